/** Maps Gemini's finish reasons to and from canonical ones, and tells those by which a model gave up. */
import type { FinishReason } from '../../../generation/event.ts';
import { asName } from '../../json.ts';

/** `failed`: no answer came, and another attempt may succeed. `account`: Google closed the operator's account. */
export type Finish = FinishReason | 'failed' | 'account';

/** The words of the first numbers, which are the same at AI Studio and Vertex (recorded with `enum-encoding=int`). */
const NUMBERS: readonly string[] = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER'];

/** https://ai.google.dev/api/generate-content#FinishReason, read 2026-11-22. */
const FINISHES: ReadonlyMap<string, Finish> = new Map<string, Finish>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The hops after it follow in the same answer; if none does, it was cut.
  ['CONTINUATION', 'length'],
  ...names('refusal', ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR', 'ESCALATION']),
  ...names('refusal', ['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION']),
  ...names('failed', ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS']),
  ...names('failed', ['MALFORMED_RESPONSE', 'MISSING_THOUGHT_SIGNATURE']),
  ['PUP_LIMITED_DISABLED', 'account'],
]);

function names(finish: Finish, words: readonly string[]): ReadonlyArray<readonly [string, Finish]> {
  return words.map((word) => [word, finish]);
}

/** The word of a `finishReason`, which old recordings have as a number; null: none, or the unspecified one. */
export function finishWordOf(value: unknown): string | null {
  const word = typeof value === 'number' ? (NUMBERS[value] ?? String(value)) : value;
  return word === NUMBERS[0] ? null : asName(word);
}

/** `other` for a word that is not known. */
export function parseFinish(word: string): Finish {
  return FINISHES.get(word) ?? 'other';
}

/** The reason that asks for another hop with the candidate's `continuationToken`. */
export const CONTINUATION = 'CONTINUATION';

const WORDS: Readonly<Record<FinishReason, 'STOP' | 'MAX_TOKENS' | 'SAFETY'>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  length: 'MAX_TOKENS',
  context_window: 'MAX_TOKENS',
  tool_calls: 'STOP',
  refusal: 'SAFETY',
  pause: 'STOP',
  other: 'STOP',
};

/** Gemini's word for a canonical reason. */
export function renderFinish(reason: FinishReason): 'STOP' | 'MAX_TOKENS' | 'SAFETY' {
  return WORDS[reason];
}
