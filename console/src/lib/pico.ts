/** Formats pico-USD exactly: prices per million tokens, and costs of lines. `lib/money.ts` formats nano-USD. */
import { exactUsd } from './money.ts';

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
