/** Estimates tokens where upstream reports no count. */

const BYTES_PER_TOKEN = 4;

/** Tokens in this many bytes of text, rounded up. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
