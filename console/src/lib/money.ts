/**
 * Formats nano-USD for display, short and exact, and pico-USD for prices and costs of lines. Amounts never pass
 * through floats.
 */

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

/**
 * `$1,250.5` → `1250.5`: without a dollar sign and separators of thousands. Any other comma stays, so that the number is
 * rejected: `12,50` may mean 12.50.
 */
export function withoutSeparators(text: string): string {
  const amount = text.trim().replace(/^\$\s*/, '');
  return /^\d{1,3}(?:[\s,_]\d{3})+(?:\.\d+)?$/.test(amount) ? amount.replace(/[\s,_]/g, '') : amount;
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

const PICO_PER_USD_DIGITS = 12;
const PRICE_DIGITS = 6;
/** Of a price per 1,000 requests. */
const FEE_DIGITS = 9;

/** `3000000` pico-USD per token → `3`: US dollars per million tokens, all digits. */
export function usdPerMillion(picoUsdPerToken: string): string {
  return decimal(picoUsdPerToken, PRICE_DIGITS, 0);
}

/** `10000000000` pico-USD per request → `10`: US dollars per 1,000 requests, all digits. */
export function usdPerThousand(picoUsdPerRequest: string): string {
  return decimal(picoUsdPerRequest, FEE_DIGITS, 0);
}

/** `13746000000` → `$0.013746`: all digits, at least two decimals. */
export function exactPicoUsd(picoUsd: string): string {
  return `$${decimal(picoUsd, PICO_PER_USD_DIGITS, 2)}`;
}

/**
 * Parses a decimal price such as `0.25` (US dollars per million tokens) to pico-USD per token; null unless it is a
 * price with at most six decimals.
 */
export function parsePrice(usdPerMillionText: string): bigint | null {
  const match = /^(\d{1,7})(?:\.(\d{1,6}))?$/.exec(usdPerMillionText.trim());
  if (match === null) return null;
  return BigInt(`${match[1]}${(match[2] ?? '').padEnd(PRICE_DIGITS, '0')}`);
}

/**
 * Converts a sum of pico-USD to nano-USD, rounded to nearest. For estimates only: the rounded amount is never charged.
 */
export function picoToNano(picoUsd: bigint): string {
  return ((picoUsd + 500n) / 1_000n).toString();
}

/** Formats an estimate: `$0.0012`. */
export function estimateText(picoUsd: bigint): string {
  return exactUsd(picoToNano(picoUsd));
}

function decimal(digits: string, places: number, placesMin: number): string {
  const padded = digits.padStart(places + 1, '0');
  const whole = padded.slice(0, -places);
  const fraction = padded.slice(-places).replace(/0+$/, '').padEnd(placesMin, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
