/**
 * Resolves which of a model's prices is in force at a time, and parses the prices set in the configuration and the
 * console. Also describes a price in words.
 */
import { parseInstantMs } from '../lib/instant.ts';
import type { StoredPrice } from '../store/ports/providers.ts';
import { type ConfigPrice, parseConfigPrice, parsePriceFrom, type WrittenPrice } from './config-price.ts';
import { formatPercent, formatUsdPerMillion, PriceError } from './money.ts';
import { FREE_PRICE, type Price } from './price.ts';

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
  return `$${input} per million tokens of input and $${output} of output${markUpWords(price)}, ${originWords(price)}`;
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
