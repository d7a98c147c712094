/** Reads the facts of legacy completions: usage, and the text of their choices. */
import { isTextCounted, NO_FLAGS, type ReportedUsage, type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { asArray, asCount, asName, asObject, countOrZero, textBytes } from '../../json.ts';
import type { AnswerReading } from '../../upstream-protocol.ts';

/**
 * `completion_tokens` is absent where nothing was generated (recorded traffic, 2025). Null: no valid count of the prompt.
 */
export function readUsage(value: unknown): ReportedUsage | null {
  const usage = asObject(value);
  const prompt = asCount(usage?.prompt_tokens);
  const completion = asCount(usage?.completion_tokens);
  if (typeof prompt !== 'number' || completion === 'invalid') return null;
  const total = asCount(usage?.total_tokens);
  const output =
    completion === 'absent' ? Math.max(0, (typeof total === 'number' ? total : prompt) - prompt) : completion;
  const cached =
    countOrZero(asObject(usage?.prompt_tokens_details)?.cached_tokens) || countOrZero(usage?.prompt_cache_hit_tokens);
  const cache_read = Math.min(cached, prompt);
  const counters: Usage = { ...ZERO_USAGE, input: prompt - cache_read, cache_read, output };
  const isSum = typeof total !== 'number' || total === prompt + output;
  return { usage: counters, flags: isSum ? NO_FLAGS : ['sum'] };
}

/** UTF-8 bytes of the texts of all choices. */
export function bytesOfChoices(choices: readonly unknown[]): number {
  return textBytes(choices.map((choice) => asObject(choice)?.text));
}

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  if (!Array.isArray(body.choices)) return { kind: 'malformed', message: 'the answer has no choices' };
  const choices = asArray(body.choices);
  const reported = readUsage(body.usage);
  const usage = reported?.usage ?? null;
  // Of a long answer only the length of the list is known.
  const bytes = choices.some((choice) => asObject(choice) !== null) ? bytesOfChoices(choices) : bodyBytes;
  return {
    kind: 'answer',
    facts: {
      usage,
      usageFlags: reported?.flags ?? NO_FLAGS,
      usageSoFar: usage,
      finish_reason: asName(asObject(choices[0])?.finish_reason),
      model: asName(body.model),
      outputBytes: isTextCounted(usage, bodyBytes) ? bytes : 0,
      reasoningBytes: 0,
      outputBytesMax: bodyBytes,
    },
  };
}
