/**
 * Resolves which of a model's prices is in force at a time and in a tier, computes the cost of usage at it, and parses
 * the prices set in the configuration and the console. Also describes a price in words.
 */

import {
  chargedTier,
  EXTRA_COUNTERS,
  EXTRA_PARTS,
  type MediaAndToolUsage,
  TIER_MEMBERS,
  type TierMember,
  type TierWords,
  type Usage,
} from '../generation/usage.ts';
import { parseInstantMs } from '../lib/quantity.ts';
import type { StoredPrice } from '../store/ports/providers.ts';
import { type ConfigPrice, parseConfigPrice, parsePriceFrom, type WrittenPrice } from './config-price.ts';
import {
  formatPercent,
  formatUsdPerMillion,
  type NanoUsd,
  type PicoUsdPerToken,
  PriceError,
  USD_PER_MILLION_MAX,
} from './money.ts';
import {
  chooseRates,
  FREE_PRICE,
  fillPrice,
  PRICE_MEMBERS,
  type Price,
  type PublishedPrice,
  type Rates,
  withMarkUp,
} from './price.ts';
import { formatUnitWords, unitPicoUsd } from './unit-prices.ts';

/** A price and the start of its period, which ends where the next one begins. */
export interface PricePeriod {
  /** Unix ms, included. */
  readonly fromMs: number;
  /** Null: the price is unknown; the record says so. */
  readonly price: Price | null;
}

/** Ascending. The first period has no start (`fromMs` is -Infinity), so that every moment has a period. */
export type PriceBook = readonly [PricePeriod, ...PricePeriod[]];

/** The configured forms of a model's price. */
export type ConfigPrices = ConfigPrice | readonly WrittenPrice[];

/** The book with one price that has always been in force. */
export function bookOf(price: Price | null): readonly [PricePeriod] {
  return [{ fromMs: Number.NEGATIVE_INFINITY, price }];
}

/** The price in force at `atMs` (unix ms), for a call its arrival. */
export function priceAt(book: PriceBook, atMs: number): Price | null {
  let { price } = book[0];
  for (const period of book) if (atMs >= period.fromMs) price = period.price;
  return price;
}

/**
 * The book of the configured prices, in any order. `before`: the price until the first of them begins, where none has
 * always been in force.
 * @throws PriceError naming the unusable member, also where two prices begin at the same moment.
 */
export function parsePriceBook(written: ConfigPrices, before: Price | null): PriceBook {
  const list: readonly ConfigPrice[] = isList(written) ? written : [written];
  const periods = list.map((one) => ({ fromMs: beginningOf(one), price: parseConfigPrice(one) }));
  periods.sort((one, other) => (one.fromMs < other.fromMs ? -1 : 1));
  for (const [index, { fromMs }] of periods.entries()) {
    if (periods[index + 1]?.fromMs === fromMs) {
      throw new PriceError('from', 'two prices that begin at the same moment', 'one price for each moment');
    }
  }
  const [first, ...others] = periods;
  if (first === undefined) throw new PriceError('price', 'an empty list', 'at least one price');
  return first.fromMs === Number.NEGATIVE_INFINITY ? [first, ...others] : [...bookOf(before), first, ...others];
}

/** The book of prices with starts of their own; of two with the same start, the later in the list applies. */
export function addPeriods(before: Price | null, periods: readonly PricePeriod[]): PriceBook {
  const byBeginning = new Map(periods.map((period) => [period.fromMs, period]));
  const ascending = [...byBeginning.values()].sort((one, other) => one.fromMs - other.fromMs);
  return [...bookOf(before), ...ascending];
}

function isList(written: ConfigPrices): written is readonly WrittenPrice[] {
  return Array.isArray(written);
}

function beginningOf(written: ConfigPrice): number {
  if (written === 'free' || written.from === undefined) return Number.NEGATIVE_INFINITY;
  try {
    return parseInstantMs(written.from);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PriceError('from', JSON.stringify(written.from), 'a day such as 2026-12-01, or 2026-12-01T08:00:00Z');
  }
}

/**
 * Parses a price set in the console. Its version begins with `console` and the start of its period, unless it is free.
 * @throws PriceError naming the member that is not a usable number.
 */
export function parseSetPrice({ rates, fromMs }: Pick<StoredPrice, 'rates' | 'fromMs'>): Price {
  return rates === null ? FREE_PRICE : parsePriceFrom(`console:${new Date(fromMs).toISOString()}`, rates);
}

/** The periods by model, each list in the order in which the prices were set. */
export function groupSetPrices(prices: readonly StoredPrice[]): ReadonlyMap<string, readonly PricePeriod[]> {
  const groups = new Map<string, PricePeriod[]>();
  for (const price of prices) {
    const group = groups.get(price.model) ?? [];
    groups.set(price.model, group);
    group.push({ fromMs: price.fromMs, price: parseSetPrice(price) });
  }
  return groups;
}

/** Completes the sentence "it costs …". Leaves out what few calls pay (long input, tools, audio and images). */
export function priceWords(price: Price): string {
  if (price.version === FREE_PRICE.version) return 'nothing: it is free';
  const [input, output] = [price.input, price.output].map(formatUsdPerMillion);
  const units = price.units === undefined ? '' : formatUnitWords(price.units);
  return `$${input} per million tokens of input and $${output} of output${units}${markUpWords(price)}, ${originWords(price)}`;
}

function markUpWords({ markUpPpm }: Price): string {
  if (markUpPpm === 0n) return '';
  return markUpPpm > 0n ? ` and ${formatPercent(markUpPpm)} % on top` : ` less ${formatPercent(-markUpPpm)} %`;
}

/** Taken from the start of the version; a price without a start has always been in force. */
function originWords({ version }: Price): string {
  const [, origin = '', since = ''] = /^([a-z]+):?(.*?)(?:\*.*)?@/.exec(version) ?? [];
  if (origin === 'catalog') return `by the catalogue of ${since.split('/')[0]}`;
  const place = origin === 'console' ? 'by the console' : 'by the configuration';
  return since === '' ? place : `${place} from ${momentWords(since)}`;
}

/** Renders `2026-12-01` and `2026-12-01T08:00:00Z`, in UTC. */
function momentWords(text: string): string {
  const [day, time = ''] = new Date(text).toISOString().split(/[T.]/);
  return time === '00:00:00' ? `${day}` : `${day}, ${time} UTC`;
}

const RATE_MAX = BigInt(USD_PER_MILLION_MAX) * 1_000_000n;

const made = new WeakMap<Price, Map<string, Price | null>>();

/**
 * The list price for a tier; the same object every time. Words that mean the list price count as absent. Fees per
 * request and prices per unit do not change. Null: one of the words has no known price.
 */
export function priceOfTier(price: Price, words: TierWords): Price | null {
  const special = chargedTier(words);
  // A free price is free in every tier.
  if (special === undefined || price.fees === null) return price;
  const suffix = TIER_MEMBERS.map((member) =>
    special[member] === undefined ? '' : `*${member}=${special[member]}`,
  ).join('');
  const known = made.get(price) ?? new Map<string, Price | null>();
  made.set(price, known);
  const before = known.get(suffix);
  if (before !== undefined) return before;
  const found = modify(price, special, suffix);
  // Words come from callers and upstreams: unpriced ones are not cached, which bounds the cache.
  if (found !== null) known.set(suffix, found);
  return found;
}

/** The words of `member` that have a price. */
export function pricedWords({ modifiers = [] }: Price, member: TierMember): readonly string[] {
  return modifiers.flatMap((modifier) => (modifier.member === member ? [modifier.word] : []));
}

function modify(price: Price, words: TierWords, suffix: string): Price | null {
  let [numerator, denominator] = [1n, 1n];
  for (const member of TIER_MEMBERS) {
    const word = words[member];
    if (word === undefined) continue;
    const modifier = price.modifiers?.find((one) => one.member === member && one.word === word);
    if (modifier === undefined) return null;
    numerator *= modifier.times[0];
    denominator *= modifier.times[1];
  }
  const scale = (rate: PicoUsdPerToken) => (rate * numerator + denominator - 1n) / denominator;
  const origin = `${price.version.slice(0, price.version.lastIndexOf('@'))}${suffix}`;
  const scaled = scaleRates(price, scale);
  const tiers = price.tiers.map(({ inputTokensAbove, rates }) => ({ inputTokensAbove, ...scaleRates(rates, scale) }));
  // A record's version must parse again, so a tier with a rate above the maximum has no price.
  if (
    [scaled, ...tiers].some((rates) => Object.values(rates).some((rate) => typeof rate === 'bigint' && rate > RATE_MAX))
  )
    return null;
  return fillPrice(scaled, origin, tiers, price.fees ?? undefined, price.units);
}

function scaleRates(rates: Rates, scale: (rate: PicoUsdPerToken) => PicoUsdPerToken): PublishedPrice {
  const members = [...PRICE_MEMBERS, ...EXTRA_COUNTERS].map((member) => [member, scale(rates[member])]);
  return Object.fromEntries(members) as Rates;
}

const PICO_PER_NANO = 1000n;
const HALF_NANO = 500n;
const PPM = 1_000_000n;

/**
 * The cost of `usage` at `price`, in nano-USD: the exact sum in pico-USD at the rates of the call's tier, plus the
 * mark-up, rounded once at the end, half up. Reasoning tokens are part of `output` and priced apart from the rest of
 * it; audio and images are priced apart from the counters they are part of; units have prices of their own. Requests of a tool without a fee
 * (`unpricedTools`) and units without a price are not included.
 * @throws RangeError where a counter is not an integer ≥ 0 or a part such as `reasoning` exceeds its whole: the parser
 * of upstream's numbers decides what such numbers mean, so that no bill is made from them by accident.
 */
export function costNanoUsd(usage: Usage, price: Price): NanoUsd {
  const picoUsd = tokenPicoUsd(usage, price) + (usage.extras === undefined ? 0n : feePicoUsd(usage.extras, price));
  if (price.markUpPpm === 0n) return (picoUsd + HALF_NANO) / PICO_PER_NANO;
  return (picoUsd * (PPM + price.markUpPpm) + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

/**
 * The cost of usage whose prices a record states: `price` is that of the whole, or of the model that answered where
 * each part names its own (`priceOf` parses it); then the fees come from `price`. One rounding, as above.
 * @throws RangeError also where the parts do not add up to the counters.
 */
export function chargedNanoUsd(usage: Usage, price: Price, priceOf: (version: string) => Price): NanoUsd {
  const parts = usage.extras?.parts;
  if (parts === undefined) return costNanoUsd(usage, price);
  for (const counter of PART_COUNTERS) {
    const sum = parts.reduce((total, part) => total + part[counter], 0);
    if (sum !== usage[counter])
      throw new RangeError(`usage ${counter}: found ${usage[counter]}, its parts come to ${sum}`);
  }
  let scaled = feePicoUsd(usage.extras ?? {}, price) * (PPM + price.markUpPpm);
  for (const { price_version, ...counters } of parts) {
    const own = price_version === undefined ? price : priceOf(price_version);
    scaled += tokenPicoUsd(counters, own) * (PPM + own.markUpPpm);
  }
  return (scaled + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

const PART_COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

/** Token cost at the rates of their length tier. */
function tokenPicoUsd(usage: Usage, price: Price): bigint {
  const { input, cache_read, cache_write_5m, cache_write_1h } = usage;
  const rates =
    price.tiers.length === 0 ? price : chooseRates(price, input + cache_read + cache_write_5m + cache_write_1h);
  let picoUsd = tokens(input, 'input') * rates.input;
  picoUsd += tokens(usage.output - usage.reasoning, 'output - reasoning') * rates.output;
  // Most usage has none of these, and each sum of big integers costs as much as with them.
  if (usage.reasoning !== 0) picoUsd += tokens(usage.reasoning, 'reasoning') * rates.reasoning;
  if (cache_read !== 0) picoUsd += tokens(cache_read, 'cache_read') * rates.cache_read;
  if (cache_write_5m !== 0) picoUsd += tokens(cache_write_5m, 'cache_write_5m') * rates.cache_write_5m;
  if (cache_write_1h !== 0) picoUsd += tokens(cache_write_1h, 'cache_write_1h') * rates.cache_write_1h;
  return usage.extras === undefined ? picoUsd : picoUsd + mediaPicoUsd(usage, usage.extras, rates);
}

/** The extra cost of audio, images and 30-minute cache writes over a sum at the rates of their whole; below 0 where they cost less. */
function mediaPicoUsd(usage: Usage, extras: MediaAndToolUsage, rates: Rates): bigint {
  const { audio_input = 0, audio_cache_read = 0, audio_output = 0, image_input = 0, image_output = 0 } = extras;
  const { cache_write_30m = 0 } = extras;
  tokens(usage.input - audio_input - image_input, 'input - audio_input - image_input');
  tokens(usage.cache_read - audio_cache_read, 'cache_read - audio_cache_read');
  tokens(usage.cache_write_5m - cache_write_30m, 'cache_write_5m - cache_write_30m');
  tokens(
    usage.output - usage.reasoning - audio_output - image_output,
    'output - reasoning - audio_output - image_output',
  );
  let picoUsd = 0n;
  for (const counter of EXTRA_COUNTERS) {
    const count = extras[counter];
    if (count !== undefined) picoUsd += tokens(count, counter) * (rates[counter] - rates[EXTRA_PARTS[counter]]);
  }
  return picoUsd;
}

/** Requests of tools, and units. */
function feePicoUsd(extras: MediaAndToolUsage, { fees, units }: Price): bigint {
  const { server_tools = {} } = extras;
  let picoUsd = units === undefined ? 0n : unitPicoUsd(extras, units);
  for (const kind in server_tools) {
    const requests = tokens(server_tools[kind] ?? 0, `server_tools.${kind}`);
    picoUsd += requests * (fees?.get(kind) ?? 0n) * PICO_PER_NANO;
  }
  return picoUsd;
}

/** A sum of pico-USD with the price's mark-up, in nano-USD, rounded up: a hold must cover the charge. */
export function ceilNanoUsd(picoUsd: bigint, price: Price): NanoUsd {
  if (price.markUpPpm === 0n) return (picoUsd + PICO_PER_NANO - 1n) / PICO_PER_NANO;
  const units = PICO_PER_NANO * PPM;
  return (picoUsd * (PPM + price.markUpPpm) + units - 1n) / units;
}

function tokens(count: number, counter: string): bigint {
  if (count === 0) return 0n;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`usage ${counter}: found ${count}, expected a whole number of tokens, 0 or more`);
  }
  return BigInt(count);
}

/** Markups seldom change; there are as many prices as models. */
const PRICED_MAX = 100_000;

/** The same price with the same markup is one object, so that calls need no arithmetic. */
export function rememberPrices(): (price: Price, markUpPpm: number) => Price {
  const known = new Map<string, Price>();
  return (price, markUpPpm) => {
    if (markUpPpm === 0) return price;
    const name = `${markUpPpm} ${price.version}`;
    const found = known.get(name) ?? withMarkUp(price, markUpPpm);
    if (known.size < PRICED_MAX) known.set(name, found);
    return found;
  };
}
