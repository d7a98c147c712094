/** Decides whether to count the text of a non-streamed answer: only rarely, because counting walks the whole body. */
import type { Usage } from '../../generation/usage.ts';

/** A body is about 4 bytes of text per token: this is four times the upstream count, above about 1,000 tokens. */
const BYTES_PER_TOKEN_TOLD = 16;
const BYTES_MIN = 4_000;

/** True if upstream reported no usage, or far less than the size of the body suggests. */
export function isTextCounted(usage: Usage | null, bodyBytes: number): boolean {
  return usage === null || (bodyBytes > BYTES_MIN && bodyBytes > usage.output * BYTES_PER_TOKEN_TOLD);
}
