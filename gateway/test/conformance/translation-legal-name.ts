/** Owns the one rule that both formats have for names of tools; messages has it for ids of calls too. Uses no product code. */

/** Whether the value is a text of at most so many letters, digits, underscores and hyphens. */
export function isLegalName(value: unknown, charsMax: number): boolean {
  return typeof value === 'string' && value.length <= charsMax && /^[A-Za-z0-9_-]+$/.test(value);
}
