/** Owns the words by which chat completions says why a model stopped, both ways. Decides nothing that the whole answer decides. */
import type { FinishReason } from '../../../generation/event.ts';

/**
 * Wire reference A.6 and C.3. Beside OpenAI's own words those of hosts that speak the format: Together's `eos` (recorded
 * traffic, 2024), Mistral's `model_length` (https://docs.rs/crate/mistral-openapi-client, read 2026-11-20), and `max_tokens`
 * of the `finish_details` that OpenAI sent with its vision previews (recorded traffic, 2023).
 */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'context_window'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'refusal'],
]);

/**
 * Words by which a host says that it gave up: the answer is cut, whatever stands in it. `error` is Mistral's (as above),
 * `insufficient_system_resource` DeepSeek's (https://docs.rs/crate/ds-api, read 2026-11-20).
 */
const FAILURES: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource']);

const WORDS: Readonly<Record<FinishReason, 'stop' | 'length' | 'tool_calls' | 'content_filter'>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  context_window: 'length',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
  pause: 'stop',
  other: 'stop',
};

/** What the word alone means; `failed` where it means that upstream gave up. Null, no word, counts as `stop`. */
export function readFinishWord(word: string | null): FinishReason | 'failed' {
  if (word === null) return 'stop';
  if (FAILURES.has(word)) return 'failed';
  return REASONS.get(word) ?? 'other';
}

/** The word for it. Wire reference C.3. */
export function finishWord(reason: FinishReason): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  return WORDS[reason];
}
