/** Owns how nano-USD are shown: with as many digits as it takes not to say 0.00. Exact: no float touches them. */

const NANO_DIGITS = 9;

/** `-1234567890` → `-1.23456789`: every digit there is, at least two after the point. */
export function exactUsd(nanoUsd: string): string {
  const { sign, whole, fraction } = digitsOf(nanoUsd);
  return `${sign}$${grouped(whole)}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** For reading: cents, and below a cent the first two digits that are not 0. */
export function shortUsd(nanoUsd: string): string {
  const { sign, whole, fraction } = digitsOf(nanoUsd);
  if (whole !== '0' || /^[1-9]|^0[1-9]/.test(fraction)) return `${sign}$${grouped(whole)}.${fraction.slice(0, 2)}`;
  const first = fraction.search(/[1-9]/);
  if (first === -1) return '$0.00';
  return `${sign}$0.${fraction.slice(0, first + 2).replace(/0+$/, '')}`;
}

/** For an axis or a bar only, where a pixel is coarser than a float. */
export function approximateUsd(nanoUsd: string): number {
  return Number(nanoUsd) / 1e9;
}

/** Sums exactly. */
export function sumNano(amounts: readonly string[]): string {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n).toString();
}

/** `a / b` in percent for a bar, 0 to 100 and beyond; 0 where `b` is 0. */
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
