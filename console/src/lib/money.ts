/** Formats nano-USD for display, short and exact. Amounts never pass through floats. */

const NANO_DIGITS = 9;
const CENT_NANO = 10_000_000n;
/** The smallest amount shown in short form: $0.0001. */
const SMALLEST_NANO = 100_000n;

/** `-1234567890` → `-1.23456789`: all digits, at least two decimals. */
export function exactUsd(nanoUsd: string): string {
  const { sign, whole, fraction } = digitsOf(nanoUsd);
  return `${sign}$${grouped(whole)}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/**
 * Short display form: two decimals from one dollar up; two to four below, rounded half up. Less than the smallest
 * amount is `<$0.0001`; 0 is `$0.00`. Put the exact amount in a `title`.
 */
export function shortUsd(nanoUsd: string): string {
  const nano = BigInt(nanoUsd);
  const isNegative = nano < 0n;
  const size = isNegative ? -nano : nano;
  if (size > 0n && size < SMALLEST_NANO / 2n) return isNegative ? '>-$0.0001' : '<$0.0001';
  const tenThousandths = (size + SMALLEST_NANO / 2n) / SMALLEST_NANO;
  const fraction = String(tenThousandths % 10_000n).padStart(4, '0');
  if (tenThousandths < 10_000n) return `${isNegative ? '-' : ''}$0.${fraction.replace(/0{1,2}$/, '')}`;
  const cents = (size + CENT_NANO / 2n) / CENT_NANO;
  return `${isNegative ? '-' : ''}$${grouped(String(cents / 100n))}.${String(cents % 100n).padStart(2, '0')}`;
}

/** The zeros that pad a short amount to four decimals, so that decimal points align in a column. */
export function missingZeros(shortAmount: string): string {
  const digits = shortAmount.length - 1 - shortAmount.indexOf('.');
  return '0'.repeat(Math.max(0, 4 - digits));
}

/** Only for an axis or a bar, where a pixel is coarser than a float. */
export function approximateUsd(nanoUsd: string): number {
  return Number(nanoUsd) / 1e9;
}

export function sumNano(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n).toString();
}

/** `a / b` in percent for a bar; may exceed 100; 0 when `b` is 0. */
export function percentOf(part: string, whole: string): number {
  const all = BigInt(whole);
  return all === 0n ? 0 : Number((BigInt(part) * 10_000n) / all) / 100;
}

function digitsOf(nanoUsd: string): { sign: string; whole: string; fraction: string } {
  const sign = nanoUsd.startsWith('-') ? '-' : '';
  const digits = nanoUsd.slice(sign.length).padStart(NANO_DIGITS + 1, '0');
  return { sign, whole: digits.slice(0, -NANO_DIGITS), fraction: digits.slice(-NANO_DIGITS) };
}

function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}
