/** Counts the output tokens of sound whose answer states no usage, by its duration. */
import type { AnswerFacts } from '../../upstream-protocol.ts';

/** A model's sound has one token for each 50 ms (platform.openai.com/docs/guides/realtime-costs, 2026-11). */
const TOKENS_PER_SECOND = 20;

export function countSound(seconds: number): NonNullable<AnswerFacts['counted']> {
  const output = Math.ceil(seconds * TOKENS_PER_SECOND);
  return output === 0 ? {} : { output, extras: { audio_output: output } };
}
