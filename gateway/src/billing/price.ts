/**
 * Owns the price of one model's tokens: its shape, how missing members are filled, how an operator writes one, and the
 * version text that a record keeps. Does not know which model has which price, nor how a call's cost is summed.
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
export interface Price extends Readonly<Record<PriceMember, PicoUsdPerToken>> {
  /**
   * Where the price comes from and, after the last `@`, the six numbers themselves: a record that keeps this text can
   * be recomputed by `parsePriceVersion` after every price list and configuration has changed.
   */
  readonly version: string;
}

/** A price as published: only `input` and `output` must be there. */
export interface PublishedPrice {
  readonly input: PicoUsdPerToken;
  readonly output: PicoUsdPerToken;
  readonly cache_read?: PicoUsdPerToken | undefined;
  readonly cache_write_5m?: PicoUsdPerToken | undefined;
  readonly cache_write_1h?: PicoUsdPerToken | undefined;
  readonly reasoning?: PicoUsdPerToken | undefined;
}

type Written = string | number;

/** A price as an operator writes it: USD per million tokens. `cache_write` is another name of `cache_write_5m`. */
export type ConfigPrice =
  | 'free'
  | {
      readonly input: Written;
      readonly output: Written;
      readonly cache_read?: Written | undefined;
      readonly cache_write?: Written | undefined;
      readonly cache_write_5m?: Written | undefined;
      readonly cache_write_1h?: Written | undefined;
      readonly reasoning?: Written | undefined;
    };

const CONFIG_MEMBERS: ReadonlySet<string> = new Set([...PRICE_MEMBERS, 'cache_write']);

/** The price that the word `free` in a configuration means. */
export const FREE_PRICE: Price = fillPrice({ input: 0n, output: 0n }, 'free');

/**
 * Fills what is missing so that nothing is billed 0 by omission: cache reads and writes cost as input, reasoning as
 * output, and the 1-hour cache write as the 5-minute one where that is given. `origin` opens the version text.
 */
export function fillPrice(published: PublishedPrice, origin: string): Price {
  const filled = {
    input: published.input,
    cache_read: published.cache_read ?? published.input,
    cache_write_5m: published.cache_write_5m ?? published.input,
    cache_write_1h: published.cache_write_1h ?? published.cache_write_5m ?? published.input,
    output: published.output,
    reasoning: published.reasoning ?? published.output,
  };
  const numbers = PRICE_MEMBERS.map((member) => formatUsdPerMillion(filled[member])).join('_');
  return { ...filled, version: `${origin}@${numbers}` };
}

/**
 * The price an operator configured.
 * @throws PriceError naming the member that is unknown, missing, given twice or not a usable number.
 */
export function parseConfigPrice(written: ConfigPrice): Price {
  if (written === 'free') return FREE_PRICE;
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    throw new PriceError(
      'price',
      JSON.stringify(written),
      'the word free, or an object with at least input and output',
    );
  }
  for (const member of Object.keys(written)) {
    if (!CONFIG_MEMBERS.has(member)) {
      throw new PriceError(member, 'an unknown member of a price', `one of ${[...CONFIG_MEMBERS].join(', ')}`);
    }
  }
  if (written.cache_write !== undefined && written.cache_write_5m !== undefined) {
    throw new PriceError('cache_write', 'cache_write beside cache_write_5m', 'one of the two: they mean the same');
  }
  const { cache_write_5m = written.cache_write } = written;
  return fillPrice(
    {
      input: parseRequired(written.input, 'input'),
      output: parseRequired(written.output, 'output'),
      cache_read: parseOptional(written.cache_read, 'cache_read'),
      cache_write_5m: parseOptional(
        cache_write_5m,
        written.cache_write === undefined ? 'cache_write_5m' : 'cache_write',
      ),
      cache_write_1h: parseOptional(written.cache_write_1h, 'cache_write_1h'),
      reasoning: parseOptional(written.reasoning, 'reasoning'),
    },
    'config',
  );
}

/**
 * The price that a record's `price_version` states.
 * @throws PriceError where the text is not one that `fillPrice` made.
 */
export function parsePriceVersion(version: string): Price {
  const at = version.lastIndexOf('@');
  const numbers = version.slice(at + 1).split('_');
  if (at < 1 || numbers.length !== PRICE_MEMBERS.length) {
    throw new PriceError('price_version', JSON.stringify(version), 'an origin, @, and six prices joined by _');
  }
  const price = (index: number) =>
    parseUsdPerMillion(numbers[index] ?? '', `price_version ${version}: ${PRICE_MEMBERS[index]}`);
  return {
    input: price(0),
    cache_read: price(1),
    cache_write_5m: price(2),
    cache_write_1h: price(3),
    output: price(4),
    reasoning: price(5),
    version,
  };
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
