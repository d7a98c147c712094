/** Maps chat-completions finish reasons to and from the canonical ones. */
import { type FinishReason, isCut } from '../../../generation/event.ts';

/**
 * Wire reference A.6 and C.3. OpenAI's own values and those of compatible providers: Together's `eos` (recorded
 * traffic, 2024), Mistral's `model_length` (https://docs.rs/crate/mistral-openapi-client, read 2026-11-20), and
 * `max_tokens` in the `finish_details` that OpenAI sent with its vision previews (recorded traffic, 2023).
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
 * Values that mean the provider gave up: the answer is cut, whatever it contains. `error` is Mistral's (as above),
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

/** The canonical reason, ignoring the rest of the answer; `failed`: upstream gave up. Null counts as `stop`. */
export function readFinishWord(word: string | null): FinishReason | 'failed' {
  if (word === null) return 'stop';
  if (FAILURES.has(word)) return 'failed';
  return REASONS.get(word) ?? 'other';
}

/**
 * The chat-completions value. Wire reference C.3. `callsTool`: an answer that is not cut then asks for its results, whatever
 * the source reported: agents stop at `stop`.
 */
export function finishWord(
  reason: FinishReason,
  callsTool: boolean,
): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  return callsTool && !isCut(reason) ? 'tool_calls' : WORDS[reason];
}
