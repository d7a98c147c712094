/** Reads what answers without output tokens (embeddings, rankings, moderations) say of their usage. */
import { NO_FLAGS, type Usage, ZERO_USAGE } from '../../generation/usage.ts';
import { asCount, asObject, countOrZero } from '../json.ts';
import type { AnswerFacts } from '../upstream-protocol.ts';

/** `usage` null: upstream reported none. `bodyBytes`: of the whole answer. */
export function factsWithoutOutput(usage: Usage | null, model: string | null, bodyBytes: number): AnswerFacts {
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

/**
 * OpenAI and most hosts report `prompt_tokens`, Voyage and Jina only `total_tokens` (recorded traffic, 2026). Null:
 * neither is a count.
 */
export function readInputUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  const prompt = asCount(usage?.prompt_tokens);
  const counted = typeof prompt === 'number' ? prompt : asCount(usage?.total_tokens);
  if (typeof counted !== 'number') return null;
  const image_input = Math.min(countOrZero(asObject(usage?.prompt_tokens_details)?.image_tokens), counted);
  const counters = { ...ZERO_USAGE, input: counted };
  return image_input === 0 ? counters : { ...counters, extras: { image_input } };
}
