/**
 * Owns the price of one model: its rates per token, its long-context tiers, an account's mark-up, and the version text
 * that a record keeps of all that. Does not know which model has which price, nor how a call's cost is summed.
 */
import { formatUsdPerMillion, type PicoUsdPerToken, PriceError, parseUsdPerMillion } from './money.ts';

/** The members of a price, in the order in which a version text writes them. */
export const PRICE_MEMBERS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const;

export type PriceMember = (typeof PRICE_MEMBERS)[number];

/** What one token of each kind costs, every member filled. */
export type Rates = Readonly<Record<PriceMember, PicoUsdPerToken>>;

/** Other rates for a whole call whose input, cache reads and writes included, is longer than `inputTokensAbove`. */
export interface PriceTier {
  readonly inputTokensAbove: number;
  readonly rates: Rates;
}

/** A price in force: its own rates are those of a call that no tier covers. */
export interface Price extends Rates {
  /** Ascending; empty: one price for all lengths. */
  readonly tiers: readonly PriceTier[];
  /** Parts per million on top of the exact sum, below 0 for a discount. */
  readonly markUpPpm: bigint;
  /**
   * Where the price comes from and, after the last `@`, all of its numbers: a record that keeps this text can be
   * recomputed by `parsePriceVersion` after every price list, configuration and account has changed.
   */
  readonly version: string;
}

/** Rates as published: only `input` and `output` must be there. */
export interface PublishedPrice {
  readonly input: PicoUsdPerToken;
  readonly output: PicoUsdPerToken;
  readonly cache_read?: PicoUsdPerToken | undefined;
  readonly cache_write_5m?: PicoUsdPerToken | undefined;
  readonly cache_write_1h?: PicoUsdPerToken | undefined;
  readonly reasoning?: PicoUsdPerToken | undefined;
}

export interface PublishedTier extends PublishedPrice {
  readonly inputTokensAbove: number;
}

/** A discount of everything. */
export const MARK_UP_PPM_MIN = -1_000_000;
/** Ten thousand percent. With the highest price it keeps ten million tokens of a call within the ledger's 64-bit nano-USD. */
export const MARK_UP_PPM_MAX = 100_000_000;

/** The price that the word `free` in a configuration means. */
export const FREE_PRICE: Price = fillPrice({ input: 0n, output: 0n }, 'free');

/**
 * Fills what is missing so that nothing is billed 0 by omission: cache reads and writes cost as input, reasoning as
 * output, and the 1-hour cache write as the 5-minute one where that is given; a tier is filled from itself, never from the
 * price below it. `origin` opens the version text.
 * @throws PriceError where the tiers do not ascend.
 */
export function fillPrice(published: PublishedPrice, origin: string, tiers: readonly PublishedTier[] = []): Price {
  const rates = fillRates(published);
  const filled = tiers.map((tier) => ({ inputTokensAbove: tier.inputTokensAbove, rates: fillRates(tier) }));
  checkAscent(filled, 'tiers');
  const steps = filled.map((tier) => `;>${tier.inputTokensAbove}=${renderRates(tier.rates)}`).join('');
  return { ...rates, tiers: filled, markUpPpm: 0n, version: `${origin}@${renderRates(rates)}${steps}` };
}

/**
 * The price for an account with a mark-up (`ppm` > 0) or a discount (< 0), in parts per million.
 * @throws RangeError where `ppm` is no integer from MARK_UP_PPM_MIN to MARK_UP_PPM_MAX, or the price has a mark-up already.
 */
export function withMarkUp(price: Price, ppm: number): Price {
  if (ppm === 0) return price;
  if (!isMarkUp(ppm)) {
    throw new RangeError(
      `mark-up: found ${ppm} ppm, expected a whole number from ${MARK_UP_PPM_MIN} to ${MARK_UP_PPM_MAX}`,
    );
  }
  if (price.markUpPpm !== 0n) throw new RangeError(`mark-up: ${price.version} has one already, expected a list price`);
  return { ...price, markUpPpm: BigInt(ppm), version: `${price.version};${ppm > 0 ? '+' : ''}${ppm}ppm` };
}

/** The rates of a whole call with so many input tokens, cache reads and writes included. */
export function chooseRates(price: Price, inputTokens: number): Rates {
  let rates: Rates = price;
  for (const tier of price.tiers) if (inputTokens > tier.inputTokensAbove) rates = tier.rates;
  return rates;
}

/**
 * The price that a record's `price_version` states: `<origin>@<six rates>`, then `;>200000=<six rates>` for each tier, then
 * `;+50000ppm` where the account had a mark-up.
 * @throws PriceError where the text is not one that `fillPrice` or `withMarkUp` made.
 */
export function parsePriceVersion(version: string): Price {
  const at = version.lastIndexOf('@');
  const [base = '', ...steps] = version.slice(at + 1).split(';');
  const markUp = /^([+-][1-9][0-9]{0,8})ppm$/.exec(steps.at(-1) ?? '')?.[1];
  if (at < 1 || (markUp !== undefined && !isMarkUp(Number.parseInt(markUp, 10)))) refuseVersion(version);
  const tiers = (markUp === undefined ? steps : steps.slice(0, -1)).map((step) => {
    const [, above = '', rates = ''] = /^>([1-9][0-9]{0,15})=(.*)$/.exec(step) ?? refuseVersion(version);
    return { inputTokensAbove: Number.parseInt(above, 10), rates: parseRates(rates, version) };
  });
  checkAscent(tiers, `price_version ${version}`);
  return { ...parseRates(base, version), tiers, markUpPpm: BigInt(markUp ?? 0), version };
}

function isMarkUp(ppm: number): boolean {
  return Number.isSafeInteger(ppm) && ppm >= MARK_UP_PPM_MIN && ppm <= MARK_UP_PPM_MAX;
}

function fillRates(published: PublishedPrice): Rates {
  const { input, output, cache_write_5m } = published;
  return {
    input,
    cache_read: published.cache_read ?? input,
    cache_write_5m: cache_write_5m ?? input,
    cache_write_1h: published.cache_write_1h ?? cache_write_5m ?? input,
    output,
    reasoning: published.reasoning ?? output,
  };
}

function checkAscent(tiers: readonly PriceTier[], member: string): void {
  let below = 0;
  for (const { inputTokensAbove } of tiers) {
    if (!Number.isSafeInteger(inputTokensAbove) || inputTokensAbove <= below) {
      throw new PriceError(member, `a tier above ${inputTokensAbove}`, `a whole number over ${below}: tiers ascend`);
    }
    below = inputTokensAbove;
  }
}

function renderRates(rates: Rates): string {
  return PRICE_MEMBERS.map((member) => formatUsdPerMillion(rates[member])).join('_');
}

function parseRates(text: string, version: string): Rates {
  const numbers = text.split('_');
  if (numbers.length !== PRICE_MEMBERS.length) refuseVersion(version);
  const rate = (index: number) =>
    parseUsdPerMillion(numbers[index] ?? '', `price_version ${version}: ${PRICE_MEMBERS[index]}`);
  return {
    input: rate(0),
    cache_read: rate(1),
    cache_write_5m: rate(2),
    cache_write_1h: rate(3),
    output: rate(4),
    reasoning: rate(5),
  };
}

function refuseVersion(version: string): never {
  const expected =
    'an origin, @, and six prices joined by _; then ;>TOKENS= with six prices for each tier, and ;+PPMppm';
  throw new PriceError('price_version', JSON.stringify(version), expected);
}
