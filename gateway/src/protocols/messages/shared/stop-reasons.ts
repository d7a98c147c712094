/** Owns what a messages answer's `stop_reason` is in the canonical language, and back. Source: wire reference B.5 and C.3. */
import type { FinishReason } from '../../../generation/event.ts';

const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context_window'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  // The context was shortened and nothing was said yet: no answer that is whole.
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

/** `other` for a word that is not in the table, and for none. */
export function parseStopReason(word: string | null): FinishReason {
  return (word === null ? undefined : FINISHES.get(word)) ?? 'other';
}

/** Whether the answer ended before the model was done, so that its last tool call may be cut off. */
export function isCut(finish: FinishReason): boolean {
  return finish === 'length' || finish === 'context_window' || finish === 'refusal';
}

/** Whatever the source said: `tool_use` exactly where a tool is called, unless the answer was cut (invariant I8). */
export function renderStopReason(finish: FinishReason, callsTool: boolean): string {
  return callsTool && !isCut(finish) ? 'tool_use' : STOP_REASONS[finish];
}
