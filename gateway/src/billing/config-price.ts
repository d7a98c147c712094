/** Owns the reading of a price as an operator writes it. Knows no model, and not when a price is in force. */
import { type PicoUsdPerToken, PriceError, parseUsdPerMillion } from './money.ts';
import { FREE_PRICE, fillPrice, PRICE_MEMBERS, type Price, type PublishedPrice } from './price.ts';

type Written = string | number;

interface WrittenRates {
  readonly input: Written;
  readonly output: Written;
  readonly cache_read?: Written | undefined;
  readonly cache_write?: Written | undefined;
  readonly cache_write_5m?: Written | undefined;
  readonly cache_write_1h?: Written | undefined;
  readonly reasoning?: Written | undefined;
}

/** Rates for a whole call with more input than `above`. */
interface WrittenTier extends WrittenRates {
  readonly above: number;
}

/** USD per million tokens. `cache_write` is another name of `cache_write_5m`. */
export interface WrittenPrice extends WrittenRates {
  /** A day (its first moment in UTC), or a moment, as `parseInstantMs` reads it. */
  readonly from?: string | undefined;
  readonly tiers?: readonly WrittenTier[] | undefined;
}

/** A price without a beginning: a mapping, or the word `free`. */
export type ConfigPrice = 'free' | WrittenPrice;

const RATE_MEMBERS: ReadonlySet<string> = new Set([...PRICE_MEMBERS, 'cache_write']);
const CONFIG_MEMBERS: ReadonlySet<string> = new Set([...RATE_MEMBERS, 'from', 'tiers']);
const TIER_MEMBERS: ReadonlySet<string> = new Set([...RATE_MEMBERS, 'above']);

/**
 * The price an operator configured; its version begins with `config`, and with the day or moment of `from` where it has
 * one. When it is in force is the book's business.
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
  const { tiers = [], from } = written;
  return fillPrice(
    parseRates(written, CONFIG_MEMBERS),
    from === undefined ? 'config' : `config:${from}`,
    tiers.map((tier) => ({ ...parseRates(tier, TIER_MEMBERS), inputTokensAbove: tier.above })),
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
  return {
    input: parseRequired(written.input, 'input'),
    output: parseRequired(written.output, 'output'),
    cache_read: parseOptional(written.cache_read, 'cache_read'),
    cache_write_5m: parseOptional(cache_write_5m, written.cache_write === undefined ? 'cache_write_5m' : 'cache_write'),
    cache_write_1h: parseOptional(written.cache_write_1h, 'cache_write_1h'),
    reasoning: parseOptional(written.reasoning, 'reasoning'),
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
