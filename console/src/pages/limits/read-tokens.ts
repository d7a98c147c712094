/** Parses a token count as typed. */

const TOKENS_MAX = 100_000_000;

/** Undefined unless it is a whole number from `least` to a hundred million. Separators are ignored. */
export function readTokens(text: string, least: number): number | undefined {
  const digits = text.replace(/[\s,_]/g, '');
  if (!/^\d{1,9}$/.test(digits)) return undefined;
  const count = Number(digits);
  return count >= least && count <= TOKENS_MAX ? count : undefined;
}
