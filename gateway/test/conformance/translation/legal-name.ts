/** Checks the rule that both formats have for tool names, and messages for tool call ids too. Uses no product code. */

/** Whether the value is a string of at most `charsMax` letters, digits, underscores and hyphens. */
export function isLegalName(value: unknown, charsMax: number): boolean {
  return typeof value === 'string' && value.length <= charsMax && /^[A-Za-z0-9_-]+$/.test(value);
}
