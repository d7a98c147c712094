/** Parses a price as an operator configures it. `price-book.ts` decides when it is in force. */

import {
  EXTRA_COUNTERS,
  isStandard,
  isTierWord,
  TIER_MEMBERS as STATED_MEMBERS,
  type TierMember,
} from '../generation/usage.ts';
import { type PicoUsdPerToken, PriceError, parseUsdPerMillion } from './money.ts';
import {
  FREE_PRICE,
  fillPrice,
  PRICE_MEMBERS,
  type Price,
  type PriceMember,
  type PriceModifier,
  type PublishedPrice,
  parseFees,
  type WrittenFees,
} from './price.ts';
import { NO_UNITS, parseUnitPrices, type WrittenUnits } from './unit-prices.ts';

type Written = string | number;

type WrittenRates = { readonly [Member in PriceMember | 'cache_write']?: Written | undefined } & {
  readonly input: Written;
  readonly output: Written;
};

/** Rates for a whole call with more input than `above`. */
type WrittenTier = WrittenRates & { readonly above: number };

/** USD per million tokens. `cache_write` is an alias of `cache_write_5m`. */
export type WrittenPrice = WrittenRates & {
  /** A day (its first moment in UTC) or a moment, as `parseInstantMs` reads it. */
  readonly from?: string | undefined;
  readonly tiers?: readonly WrittenTier[] | undefined;
  /** USD per 1,000 requests of tools that run upstream, by kind. */
  readonly per_1000_requests?: WrittenFees | undefined;
  /** USD per image, second, character and search. */
  readonly per_unit?: WrittenUnits | undefined;
  /** Factors of the rates in a tier, by member and word: `{ speed: { fast: 2 } }`. */
  readonly modifiers?: WrittenModifiers | undefined;
};

export type WrittenModifiers = { readonly [member in TierMember]?: { readonly [word: string]: Written } | undefined };

/** A price without a start: a mapping, or the word `free`. */
export type ConfigPrice = 'free' | WrittenPrice;

const RATE_MEMBERS: ReadonlySet<string> = new Set([...PRICE_MEMBERS, ...EXTRA_COUNTERS, 'cache_write']);
const CONFIG_MEMBERS: ReadonlySet<string> = new Set([
  ...RATE_MEMBERS,
  'from',
  'tiers',
  'per_1000_requests',
  'per_unit',
  'modifiers',
]);
const TIER_MEMBERS: ReadonlySet<string> = new Set([...RATE_MEMBERS, 'above']);

/**
 * The configured price. Its version begins with `config`, followed by the day or moment of `from` where given. The
 * price book decides when it is in force.
 * @throws PriceError naming the member that is unknown, missing, given twice or not a usable number.
 */
export function parseConfigPrice(written: ConfigPrice): Price {
  if (written === 'free') return FREE_PRICE;
  if (!isMapping(written)) {
    throw new PriceError(
      'price',
      JSON.stringify(written),
      'the word free, or an object with at least input and output',
    );
  }
  return parsePriceFrom(written.from === undefined ? 'config' : `config:${written.from}`, written);
}

/**
 * A configured price whose version begins with `origin`.
 * @throws PriceError as `parseConfigPrice` does.
 */
export function parsePriceFrom(origin: string, written: WrittenPrice): Price {
  const { tiers = [], per_1000_requests = {}, per_unit, modifiers } = written;
  const price = fillPrice(
    parseRates(written, CONFIG_MEMBERS),
    origin,
    tiers.map((tier) => ({ ...parseRates(tier, TIER_MEMBERS), inputTokensAbove: tier.above })),
    parseFees(per_1000_requests),
    per_unit === undefined ? NO_UNITS : parseUnitPrices(per_unit),
  );
  return modifiers === undefined ? price : { ...price, modifiers: parseModifiers(modifiers) };
}

const MILLION = 1_000_000n;

function parseModifiers(written: WrittenModifiers): readonly PriceModifier[] {
  return STATED_MEMBERS.flatMap((member) =>
    Object.entries(written[member] ?? {}).map(([word, times]) => {
      const where = `modifiers.${member}.${word}`;
      if (!isTierWord(word) || isStandard(member, word)) {
        throw new PriceError(where, JSON.stringify(word), `a word for which ${member} has a price of its own`);
      }
      return { member, word, times: [parseUsdPerMillion(times, where), MILLION] } as const;
    }),
  );
}

function parseRates(written: WrittenRates, known: ReadonlySet<string>): PublishedPrice {
  for (const member of Object.keys(written)) {
    if (!known.has(member)) {
      throw new PriceError(member, 'an unknown member of a price', `one of ${[...known].join(', ')}`);
    }
  }
  if (written.cache_write !== undefined && written.cache_write_5m !== undefined) {
    throw new PriceError('cache_write', 'cache_write beside cache_write_5m', 'one of the two: they mean the same');
  }
  const { cache_write_5m = written.cache_write } = written;
  const others = [...PRICE_MEMBERS, ...EXTRA_COUNTERS].map((member) => [
    member,
    parseOptional(written[member], member),
  ]);
  return {
    ...Object.fromEntries(others),
    input: parseRequired(written.input, 'input'),
    output: parseRequired(written.output, 'output'),
    cache_write_5m: parseOptional(cache_write_5m, written.cache_write === undefined ? 'cache_write_5m' : 'cache_write'),
  };
}

function isMapping(written: unknown): boolean {
  return typeof written === 'object' && written !== null && !Array.isArray(written);
}

function parseRequired(written: Written | undefined, member: string): PicoUsdPerToken {
  const price = parseOptional(written, member);
  if (price !== undefined) return price;
  throw new PriceError(member, 'nothing', 'USD per million tokens; a price needs at least input and output');
}

function parseOptional(written: Written | undefined, member: string): PicoUsdPerToken | undefined {
  if (written === undefined) return undefined;
  if (typeof written === 'string' || typeof written === 'number') return parseUsdPerMillion(written, member);
  throw new PriceError(member, JSON.stringify(written), 'a decimal number of USD per million tokens, such as 0.25');
}
