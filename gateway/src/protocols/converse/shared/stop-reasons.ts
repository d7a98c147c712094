/** Converts the `stopReason` of a Converse answer to the canonical finish reason. Source: provider reference C.4. */
import type { FinishReason } from '../../../generation/event.ts';

const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context_window'],
  ['tool_use', 'tool_calls'],
  // The text may be an answer in which the guardrail masked something.
  ['guardrail_intervened', 'refusal'],
  ['content_filtered', 'refusal'],
]);

/** The model wrote something that Bedrock could not read: a fault of the provider, which another attempt may avoid. */
const MALFORMED: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use']);

/** `malformed`: there is no answer. `other` for an unknown reason and for null. */
export function parseStopReason(word: string | null): FinishReason | 'malformed' {
  if (word === null) return 'other';
  return MALFORMED.has(word) ? 'malformed' : (FINISHES.get(word) ?? 'other');
}
