/** Owns of which answers in one piece the text is counted: of few, for it takes a walk through all that was said. */
import type { Usage } from '../../generation/usage.ts';

/** A body is mostly its text, at some four bytes a token; far more than upstream counted is four times and a thousand tokens. */
const BYTES_PER_TOKEN_TOLD = 16;
const BYTES_MIN = 4_000;

/** Where upstream counted nothing, or so little that the whole body would be far more. */
export function isTextCounted(usage: Usage | null, bodyBytes: number): boolean {
  return usage === null || (bodyBytes > BYTES_MIN && bodyBytes > usage.output * BYTES_PER_TOKEN_TOLD);
}
