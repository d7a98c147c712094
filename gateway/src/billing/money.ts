/**
 * Parses and formats money exactly: pico-USD per token for prices, nano-USD for amounts. Both are integers; no value is
 * ever a float.
 */

/** An amount: integer nano-USD (10⁻⁹ USD). */
export type NanoUsd = bigint;

/** A price: integer pico-USD (10⁻¹² USD) per token. One USD per million tokens is 1,000,000 pico-USD per token. */
export type PicoUsdPerToken = bigint;

/** The most decimal places of a USD-per-million price that pico-USD per token can represent. */
const PRICE_DECIMALS_MAX = 6;
const NANO_DECIMALS = 9;
const PERCENT_DECIMALS = 4;

/** One USD per token. Keeps the cost of 10⁹ tokens in one call within the ledger's 64-bit nano-USD. */
export const USD_PER_MILLION_MAX = 1_000_000;
const PICO_PER_TOKEN_MAX = BigInt(USD_PER_MILLION_MAX) * 1_000_000n;

/** One USD per request. */
export const USD_PER_THOUSAND_MAX = 1_000;
const FEE_NANO_MAX = BigInt(USD_PER_THOUSAND_MAX) * 1_000_000n;

/** The most decimal places of a price per unit: pico-USD. */
const UNIT_DECIMALS = 12;
/** Keeps the cost of a million units in one call within the ledger's 64-bit nano-USD. */
export const USD_PER_UNIT_MAX = 1_000;
const UNIT_PICO_MAX = BigInt(USD_PER_UNIT_MAX) * 10n ** 12n;

/** Maximum of one ledger movement or cap: 64-bit nano-USD hold just over nine billion dollars. */
const AMOUNT_NANO_MAX = 9_000_000_000n * 1_000_000_000n;

const TEXT_CHARS_MAX = 40;
const DECIMAL = /^(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,3}))?$/;

/** An unusable price. `member` names it, so that a configuration error can point at its line. */
export class PriceError extends Error {
  override readonly name = 'PriceError';

  constructor(
    readonly member: string,
    readonly found: string,
    readonly expected: string,
  ) {
    super(`${member}: found ${found}, expected ${expected}`);
  }
}

/**
 * Parses a decimal number of USD per million tokens exactly. A JavaScript number is taken by its shortest text, so
 * `0.1` means one tenth. Exponents (`2e-1`) and trailing zeros are accepted.
 * @throws PriceError naming `member` where it is negative, not a number, finer than 6 decimal places or above
 * 1,000,000.
 */
export function parseUsdPerMillion(written: string | number, member: string): PicoUsdPerToken {
  const price = parseMillionths(written, member, 'USD per million tokens');
  if (price > PICO_PER_TOKEN_MAX) {
    throw new PriceError(
      member,
      quote(written),
      `at most ${USD_PER_MILLION_MAX} USD per million tokens; is it in another unit?`,
    );
  }
  return price;
}

function parseMillionths(written: string | number, member: string, unit: string): bigint {
  const text = String(written);
  const match = text.length <= TEXT_CHARS_MAX ? DECIMAL.exec(text) : null;
  if (match === null) {
    throw new PriceError(member, quote(written), `a decimal number of ${unit}, 0 or more, such as 0.25`);
  }
  const fraction = match[2] ?? '';
  const digits = BigInt(`${match[1] ?? ''}${fraction}`);
  const shift = Number(match[3] ?? '0') - fraction.length + PRICE_DECIMALS_MAX;
  const price = scaleByTen(digits, shift);
  if (price !== null) return price;
  throw new PriceError(
    member,
    quote(written),
    `at most ${PRICE_DECIMALS_MAX} decimal places (${unit}); round it to what you charge`,
  );
}

/**
 * Parses a decimal number of USD exactly, such as `10` or `0.000000001`; 0 or more.
 * @throws PriceError naming `member` where it is not such a number, finer than a nano-dollar or more than
 * 9,000,000,000.
 */
export function parseUsd(written: string, member: string): NanoUsd {
  const match = written.length <= TEXT_CHARS_MAX ? DECIMAL.exec(written) : null;
  if (match === null) throw new PriceError(member, quote(written), 'a decimal number of USD, 0 or more, such as 0.25');
  const fraction = match[2] ?? '';
  const shift = Number(match[3] ?? '0') - fraction.length + NANO_DECIMALS;
  const amount = scaleByTen(BigInt(`${match[1] ?? ''}${fraction}`), shift);
  if (amount === null) {
    throw new PriceError(member, quote(written), `at most ${NANO_DECIMALS} decimal places: a nano-dollar is the least`);
  }
  if (amount > AMOUNT_NANO_MAX) throw new PriceError(member, quote(written), 'at most 9000000000 USD');
  return amount;
}

/**
 * Parses the fee of one request from USD per 1,000 requests, at most 1,000 (one dollar each); six decimals make whole
 * nano-USD.
 * @throws PriceError naming `member` where it is not such a number.
 */
export function parseUsdPerThousand(written: string | number, member: string): NanoUsd {
  const fee = parseMillionths(written, member, 'USD per 1,000 requests');
  if (fee > FEE_NANO_MAX) {
    throw new PriceError(
      member,
      quote(written),
      `at most ${USD_PER_THOUSAND_MAX} USD per 1,000 requests; is it in another unit?`,
    );
  }
  return fee;
}

/**
 * Parses the price of one unit (an image, a second, a character, a search) in USD exactly, as pico-USD.
 * @throws PriceError naming `member` where it is negative, not a number, finer than 12 decimal places or above 1,000.
 */
export function parseUsdPerUnit(written: string | number, member: string): bigint {
  const range = `from 0 to ${USD_PER_UNIT_MAX} with at most ${UNIT_DECIMALS} decimal places`;
  const refused = () => new PriceError(member, quote(written), `USD per unit: a decimal number ${range}`);
  const text = String(written);
  const match = text.length <= TEXT_CHARS_MAX ? DECIMAL.exec(text) : null;
  if (match === null) throw refused();
  const fraction = match[2] ?? '';
  const shift = Number(match[3] ?? '0') - fraction.length + UNIT_DECIMALS;
  const price = scaleByTen(BigInt(`${match[1] ?? ''}${fraction}`), shift);
  if (price === null || price > UNIT_PICO_MAX) throw refused();
  return price;
}

/** The price of a unit as the shortest exact decimal of USD. */
export function formatUsdPerUnit(picoUsd: bigint): string {
  return formatDecimal(picoUsd, UNIT_DECIMALS);
}

/** A fee as the shortest exact decimal of USD per 1,000 requests. */
export function formatUsdPerThousand(fee: NanoUsd): string {
  return formatDecimal(fee, PRICE_DECIMALS_MAX);
}

/** A price as the shortest exact decimal of USD per million tokens: `1250000n` is `1.25`. */
export function formatUsdPerMillion(price: PicoUsdPerToken): string {
  return formatDecimal(price, PRICE_DECIMALS_MAX);
}

/** An amount as the shortest exact decimal of USD, no exponent: `12300n` is `0.0000123`, `-500000000n` is `-0.5`. */
export function formatNanoUsd(amount: NanoUsd): string {
  return formatDecimal(amount, NANO_DECIMALS);
}

/** Parts per million as the shortest exact decimal percentage: `125000n` is `12.5`. */
export function formatPercent(ppm: bigint): string {
  return formatDecimal(ppm, PERCENT_DECIMALS);
}

function formatDecimal(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  let end = digits.length;
  while (end > digits.length - decimals && digits[end - 1] === '0') end -= 1;
  const fraction = digits.slice(digits.length - decimals, end);
  const whole = `${units < 0n ? '-' : ''}${digits.slice(0, -decimals)}`;
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** `digits × 10^shift`, or null where it is not an integer. */
function scaleByTen(digits: bigint, shift: number): bigint | null {
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : null;
}

function quote(written: string | number): string {
  if (typeof written === 'number') return String(written);
  const shown = written.length > TEXT_CHARS_MAX ? `${written.slice(0, TEXT_CHARS_MAX)}…` : written;
  return JSON.stringify(shown);
}
