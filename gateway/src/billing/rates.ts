/**
 * Owns what a token of each kind costs: how rates that were left out are filled, and their text in a price's version. Knows
 * no tiers, no fees per request and no model.
 */
import { MEDIA_COUNTERS, MEDIA_PARTS, type MediaCounter } from '../generation/usage-apart.ts';
import { formatUsdPerMillion, type PicoUsdPerToken, parseUsdPerMillion } from './money.ts';

/** The members that every price has, in the order in which a version text writes them. */
export const PRICE_MEMBERS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
] as const;

export type PriceMember = (typeof PRICE_MEMBERS)[number] | MediaCounter;

/** What one token of each kind costs, every member filled. */
export type Rates = Readonly<Record<PriceMember, PicoUsdPerToken>>;

/** Rates as published: only `input` and `output` must be there. */
export type PublishedPrice = { readonly [Member in PriceMember]?: PicoUsdPerToken | undefined } & {
  readonly input: PicoUsdPerToken;
  readonly output: PicoUsdPerToken;
};

/**
 * Nothing is billed 0 by omission: cache reads and writes cost as input, the 1-hour cache write as the 5-minute one where
 * that is given, reasoning as output, sound and images as the counter that they are a part of. Sound from a cache costs as
 * what comes from a cache, and where that is not given either, as sound.
 */
export function fillRates(published: PublishedPrice): Rates {
  const { input, output, cache_write_5m } = published;
  const audio_input = published.audio_input ?? input;
  return {
    input,
    cache_read: published.cache_read ?? input,
    cache_write_5m: cache_write_5m ?? input,
    cache_write_1h: published.cache_write_1h ?? cache_write_5m ?? input,
    output,
    reasoning: published.reasoning ?? output,
    audio_input,
    audio_cache_read: published.audio_cache_read ?? published.cache_read ?? audio_input,
    audio_output: published.audio_output ?? output,
    image_input: published.image_input ?? input,
    image_output: published.image_output ?? output,
  };
}

/** Six rates joined by `_`, then `,audio_input=40` for each of sound and images that costs otherwise than its whole. */
export function renderRates(rates: Rates): string {
  const six = PRICE_MEMBERS.map((member) => formatUsdPerMillion(rates[member])).join('_');
  const apart = MEDIA_COUNTERS.filter((counter) => rates[counter] !== rates[MEDIA_PARTS[counter]]);
  return six + apart.map((counter) => `,${counter}=${formatUsdPerMillion(rates[counter])}`).join('');
}

/**
 * The rates that `renderRates` wrote. `where` opens the words about a number that cannot be read.
 * @throws PriceError there; null for a text of another form.
 */
export function parseRates(text: string, where: string): Rates | null {
  const [six = '', ...apart] = text.split(',');
  const numbers = six.split('_');
  if (numbers.length !== PRICE_MEMBERS.length) return null;
  const rates = new Map<string, PicoUsdPerToken>();
  for (const [index, member] of PRICE_MEMBERS.entries()) {
    rates.set(member, parseUsdPerMillion(numbers[index] ?? '', `${where}: ${member}`));
  }
  for (const written of apart) {
    const [member = '', number = '', ...more] = written.split('=');
    if (more.length > 0 || rates.has(member) || !Object.hasOwn(MEDIA_PARTS, member)) return null;
    rates.set(member, parseUsdPerMillion(number, `${where}: ${member}`));
  }
  const given = Object.fromEntries(rates) as Partial<Rates> & Pick<Rates, 'input' | 'output'>;
  return fillRates(given);
}
