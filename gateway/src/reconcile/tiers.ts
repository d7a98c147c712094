/** Tells whether a difference in price is that of another tier. */

/** Values charged at the list price. */
const STANDARD = new Set(['default', 'standard', 'auto', 'on_demand', 'standard_only']);

/** Null: the list price. */
export function tierOf(word: string | null): string | null {
  return word === null || STANDARD.has(word.toLowerCase()) ? null : word.toLowerCase();
}

/**
 * Factors on the list price, as numerator and denominator: batches and flex cost half; priority costs between 1.7 and 2.5
 * times the list price, by vendor and model.
 * https://platform.openai.com/docs/pricing, https://aws.amazon.com/bedrock/service-tiers/ (2026-11-23)
 */
const FACTORS: readonly (readonly [name: string, over: bigint, under: bigint])[] = [
  ['batch or flex', 1n, 2n],
  ['priority', 2n, 1n],
  ['priority', 7n, 4n],
  ['priority', 5n, 2n],
];

/** The tier that a factor between two amounts is known for; null: none. */
export function tierOfFactor(billed: bigint, recorded: bigint): string | null {
  if (recorded <= 0n) return null;
  const near = (over: bigint, under: bigint) => {
    const difference = billed * under - recorded * over;
    // Amounts are rounded to a nano-dollar each.
    return (difference < 0n ? -difference : difference) <= over + under;
  };
  return FACTORS.find(([, over, under]) => near(over, under))?.[0] ?? null;
}
