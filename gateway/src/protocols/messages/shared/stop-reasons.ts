/**
 * Converts between the `stop_reason` of a messages response and the canonical finish reason. Source: wire reference B.5
 * and C.3.
 */
import { type FinishReason, isCut } from '../../../generation/event.ts';

const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context_window'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  // The context was shortened before any output, so the response is not complete.
  ['compaction', 'context_window'],
]);

const STOP_REASONS: { readonly [finish in FinishReason]: string } = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_window: 'model_context_window_exceeded',
  tool_calls: 'end_turn',
  refusal: 'refusal',
  pause: 'pause_turn',
  other: 'end_turn',
};

/** `other` for an unknown reason and for null. */
export function parseStopReason(word: string | null): FinishReason {
  return (word === null ? undefined : FINISHES.get(word)) ?? 'other';
}

/** Whatever the source reported: `tool_use` exactly if a tool is called, unless the response was cut (invariant I8). */
export function renderStopReason(finish: FinishReason, callsTool: boolean): string {
  return callsTool && !isCut(finish) ? 'tool_use' : STOP_REASONS[finish];
}
