/**
 * Owns the price of one model: its rates per token, its long-context tiers, its fees per request, an account's mark-up, and
 * the version text that a record keeps of all that. Does not know which model has which price, nor how a call's cost is
 * summed.
 */
import type { TierMember } from '../generation/tier-words.ts';
import { type Fees, NO_FEES, parseFeeSteps, renderFees } from './fees.ts';
import { PriceError } from './money.ts';
import { fillRates, type PublishedPrice, parseRates, type Rates, renderRates } from './rates.ts';

/** Other rates for a whole call whose input, cache reads and writes included, is longer than `inputTokensAbove`. */
export interface PriceTier {
  readonly inputTokensAbove: number;
  readonly rates: Rates;
}

/** In a tier of that word every rate per token is multiplied by `times`, a fraction; those of different members multiply each other. */
export interface PriceModifier {
  readonly member: TierMember;
  readonly word: string;
  readonly times: readonly [numerator: bigint, denominator: bigint];
}

/** A price in force: its own rates are those of a call that no tier covers. */
export interface Price extends Rates {
  /** Ascending; empty: one price for all lengths. */
  readonly tiers: readonly PriceTier[];
  /** Of tools that run upstream; null: whatever they do is free too. */
  readonly fees: Fees | null;
  /** How the price changes with the tier that answers; absent: no price of another tier is known. */
  readonly modifiers?: readonly PriceModifier[];
  /** Parts per million on top of the exact sum, below 0 for a discount. */
  readonly markUpPpm: bigint;
  /**
   * Where the price comes from and, after the last `@`, all of its numbers: a record that keeps this text can be
   * recomputed by `parsePriceVersion` after every price list, configuration and account has changed.
   */
  readonly version: string;
}

export type PublishedTier = PublishedPrice & { readonly inputTokensAbove: number };

/** A discount of everything. */
export const MARK_UP_PPM_MIN = -1_000_000;
/** Ten thousand percent. With the highest price it keeps ten million tokens of a call within the ledger's 64-bit nano-USD. */
export const MARK_UP_PPM_MAX = 100_000_000;

const FREE_ORIGIN = 'free';

/** The price that the word `free` in a configuration means. */
export const FREE_PRICE: Price = fillPrice({ input: 0n, output: 0n }, FREE_ORIGIN);

/**
 * The price with what is missing filled (`fillRates`); a tier is filled from itself, never from the price below it. A fee
 * that is missing stays missing: there is nothing that it costs as. `origin` opens the version text.
 * @throws PriceError where the tiers do not ascend.
 */
export function fillPrice(
  published: PublishedPrice,
  origin: string,
  tiers: readonly PublishedTier[] = [],
  fees: Fees = NO_FEES,
): Price {
  const rates = fillRates(published);
  const filled = tiers.map((tier) => ({ inputTokensAbove: tier.inputTokensAbove, rates: fillRates(tier) }));
  checkAscent(filled, 'tiers');
  const steps = filled.map((tier) => `;>${tier.inputTokensAbove}=${renderRates(tier.rates)}`).join('');
  return {
    ...rates,
    tiers: filled,
    fees: origin === FREE_ORIGIN ? null : fees,
    markUpPpm: 0n,
    version: `${origin}@${renderRates(rates)}${steps}${renderFees(fees)}`,
  };
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
 * The price that a record's `price_version` states: `<origin>@<rates>`, then `;>200000=<rates>` for each tier, then
 * `;web_search=10/1000` for each fee, then `;+50000ppm` where the account had a mark-up.
 * @throws PriceError where the text is not one that `fillPrice` or `withMarkUp` made.
 */
export function parsePriceVersion(version: string): Price {
  const at = version.lastIndexOf('@');
  const [base = '', ...steps] = version.slice(at + 1).split(';');
  const markUp = /^([+-][1-9][0-9]{0,8})ppm$/.exec(steps.at(-1) ?? '')?.[1];
  if (at < 1 || (markUp !== undefined && !isMarkUp(Number.parseInt(markUp, 10)))) refuseVersion(version);
  if (markUp !== undefined) steps.pop();
  const firstFee = steps.findIndex((step) => !step.startsWith('>'));
  const feeSteps = firstFee === -1 ? [] : steps.splice(firstFee);
  const tiers = steps.map((step) => {
    const [, above = '', rates = ''] = /^>([1-9][0-9]{0,15})=(.*)$/.exec(step) ?? refuseVersion(version);
    return { inputTokensAbove: Number.parseInt(above, 10), rates: readRates(rates, version) };
  });
  checkAscent(tiers, `price_version ${version}`);
  const fees = parseFeeSteps(feeSteps) ?? refuseVersion(version);
  const isFree = version.slice(0, at) === FREE_ORIGIN;
  return {
    ...readRates(base, version),
    tiers,
    fees: isFree ? null : fees,
    markUpPpm: BigInt(markUp ?? 0),
    version,
  };
}

/** The same price; null where the text is none of ours, as in records that were kept before versions had numbers. */
export function readPriceVersion(version: string): Price | null {
  try {
    return parsePriceVersion(version);
  } catch (error) {
    if (error instanceof PriceError) return null;
    throw error;
  }
}

function readRates(text: string, version: string): Rates {
  return parseRates(text, `price_version ${version}`) ?? refuseVersion(version);
}

function isMarkUp(ppm: number): boolean {
  return Number.isSafeInteger(ppm) && ppm >= MARK_UP_PPM_MIN && ppm <= MARK_UP_PPM_MAX;
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

function refuseVersion(version: string): never {
  const expected =
    'an origin, @, and six prices joined by _, with ,audio_input=PRICE and the like; then ;>TOKENS= with such prices for each tier, ;TOOL=USD/1000 for each fee, and ;+PPMppm';
  throw new PriceError('price_version', JSON.stringify(version), expected);
}
