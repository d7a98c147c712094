/** Reads the facts of answers of embeddings, whose usage differs from host to host. */
import { NO_FLAGS, type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { asCount, asObject, asText, countOrZero } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';

/** The facts of an answer without output tokens. `usage` null: upstream reported none. */
function factsOf(usage: Usage | null, model: string | null, bodyBytes: number): AnswerFacts {
  return {
    usage,
    usageFlags: NO_FLAGS,
    usageSoFar: usage,
    finish_reason: null,
    model,
    outputBytes: 0,
    reasoningBytes: 0,
    outputBytesMax: bodyBytes,
  };
}

/** `bodyBytes`: the length of the body that `answer` was parsed from. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (!Array.isArray(body?.data)) return { kind: 'malformed', message: 'the answer has no list of embeddings' };
  return { kind: 'answer', facts: factsOf(readUsage(body.usage), asText(body.model), bodyBytes) };
}

/**
 * OpenAI and most hosts report `prompt_tokens`, Voyage only `total_tokens` (recorded traffic, 2026). Null: neither is a
 * count.
 */
function readUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  const prompt = asCount(usage?.prompt_tokens);
  const counted = typeof prompt === 'number' ? prompt : asCount(usage?.total_tokens);
  if (typeof counted !== 'number') return null;
  const image_input = Math.min(countOrZero(asObject(usage?.prompt_tokens_details)?.image_tokens), counted);
  const counters = { ...ZERO_USAGE, input: counted };
  return image_input === 0 ? counters : { ...counters, extras: { image_input } };
}
