/** Applies tier prices: how a list price changes with the service tier, the speed and the inference region. */
import { chargedTier, TIER_MEMBERS, type TierMember, type TierWords } from '../generation/tier-words.ts';
import { MEDIA_COUNTERS } from '../generation/usage.ts';
import { type PicoUsdPerToken, USD_PER_MILLION_MAX } from './money.ts';
import { fillPrice, PRICE_MEMBERS, type Price, type PublishedPrice, type Rates } from './price.ts';

const RATE_MAX = BigInt(USD_PER_MILLION_MAX) * 1_000_000n;

const made = new WeakMap<Price, Map<string, Price | null>>();

/**
 * The list price for a tier; the same object every time. Words that mean the list price count as absent. Fees per
 * request do not change. Null: one of the words has no known price.
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
  return fillPrice(scaled, origin, tiers, price.fees ?? undefined);
}

function scaleRates(rates: Rates, scale: (rate: PicoUsdPerToken) => PicoUsdPerToken): PublishedPrice {
  const members = [...PRICE_MEMBERS, ...MEDIA_COUNTERS].map((member) => [member, scale(rates[member])]);
  return Object.fromEntries(members) as Rates;
}
