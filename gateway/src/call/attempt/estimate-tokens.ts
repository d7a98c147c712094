/** Owns our estimate of tokens where upstream counts none. */

const BYTES_PER_TOKEN = 4;

/** Tokens in so many bytes of text, rounded up. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
