/**
 * Owns at which prices a call is held that names other models or asks for a tier: the dearest that may answer, and what works
 * beside it. Contract, 10.2 and 10.9. Takes nothing of any limit.
 */
import type { Price } from '../../billing/price.ts';
import { priceAt } from '../../billing/price-book.ts';
import { pricedWords, priceOfTier } from '../../billing/price-modifiers.ts';
import { chooseHold, type HoldSlice, type HoldWish, SLICE_TOKENS } from '../../billing/reserve.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { specialTier, TIER_MEMBERS, type TierWords } from '../../generation/tier-words.ts';
import type { Route } from '../../routing/route.ts';
import type { PricedRequest } from '../plan/named-models.ts';

/** Prices with the account's mark-up. */
export interface HoldPrices {
  /** Of the model and the tier that were asked for. */
  readonly asked: Price;
  /** Of all that may answer in the place of it, each with the most output tokens of its own; null: as the request says. */
  readonly others: readonly { readonly price: Price; readonly outputTokensMax: number | null }[];
  /** Of what works for the model that answers. */
  readonly beside: readonly { readonly price: Price; readonly outputTokensMax: number; readonly runs: number }[];
}

export interface AskedPrices {
  readonly route: Route;
  readonly request: PricedRequest;
  readonly atMs: number;
  /** A price must be known: the call is paid from a balance or a budget. */
  readonly isBound: boolean;
  /** With the account's mark-up. */
  priced(list: Price): Price;
}

/**
 * Null where the model that was asked for has no price.
 * @throws CallFailure where the call is bound: `invalid_request` that names the member whose price nobody knows; `unpriced`
 * where a named model has no price.
 */
export function chooseHoldPrices(asked: AskedPrices): HoldPrices | null {
  const { route, request, atMs, priced } = asked;
  const { members, named } = request;
  const list = priceAt(route.prices, atMs);
  if (list === null) return null;
  const [unknown] = members.unpriced;
  if (unknown !== undefined && asked.isBound && list.fees !== null) {
    throw refuseMember(unknown, 'nobody can tell here what it makes the answer cost', asked);
  }
  const base = tierPrice(list, members.tier, asked);
  const others: HoldPrices['others'][number][] = autoPrices(list, members.tier).map((price) => ({
    price: priced(price),
    outputTokensMax: null,
  }));
  const beside: HoldPrices['beside'][number][] = [];
  for (const one of named) {
    const found = priceAt(one.route.prices, atMs);
    if (found === null && asked.isBound) throw unpriced(one.route, one.named.path);
    if (found === null) continue;
    const price = priced(tierPrice(found, { ...members.tier, ...one.named.tier }, asked));
    const { outputTokensMax, runs } = one.named;
    if (one.named.role === 'instead') others.push({ price, outputTokensMax });
    else beside.push({ price, runs, outputTokensMax: outputTokensMax ?? SLICE_TOKENS });
  }
  return { asked: priced(base), others, beside };
}

/** What is held for the dearest of all that may answer; its wish is the one by which a stream is held further. */
export function chooseDearestHold(
  wish: HoldWish,
  { others, beside }: HoldPrices,
): { readonly wish: HoldWish; readonly slice: HoldSlice } {
  let dearest = { wish, slice: chooseHold(wish) };
  for (const { price, outputTokensMax } of others) {
    const most = wish.outputTokensMax === null ? null : Math.max(wish.outputTokensMax, outputTokensMax ?? 0);
    const other = { ...wish, price, outputTokensMax: most };
    const slice = chooseHold(other);
    if (slice.amount > dearest.slice.amount) dearest = { wish: other, slice };
  }
  let more = 0n;
  for (const { price, outputTokensMax, runs } of beside) {
    const run = { ...wish, mode: 'strict', stream: false, price, outputTokensMax, apart: undefined } as const;
    more += chooseHold(run).amount * BigInt(runs);
  }
  if (more === 0n) return dearest;
  return { wish: dearest.wish, slice: { ...dearest.slice, amount: dearest.slice.amount + more } };
}

/** The list price where the call is not bound and the tier has no price that is known: the record says which tier answered. */
function tierPrice(list: Price, tier: TierWords, asked: AskedPrices): Price {
  const found = priceOfTier(list, tier);
  if (found !== null) return found;
  if (!asked.isBound) return list;
  const member = TIER_MEMBERS.find(
    (one) => tier[one] !== undefined && priceOfTier(list, { [one]: tier[one] }) === null,
  );
  throw refuseMember(
    member ?? 'service_tier',
    `the price of ${JSON.stringify(member && tier[member])} is not known here`,
    asked,
  );
}

/** `auto` leaves the tier to upstream: any that has a price may answer. */
function autoPrices(list: Price, tier: TierWords): readonly Price[] {
  if (tier.service_tier !== 'auto') return [];
  return pricedWords(list, 'service_tier').flatMap((word) => {
    const price = priceOfTier(list, { ...specialTier(tier), service_tier: word });
    return price === null ? [] : [price];
  });
}

function refuseMember(member: string, why: string, { route }: AskedPrices): CallFailure {
  const model = JSON.stringify(route.model);
  return invalidRequest(
    `${member}: ${why} for the model ${model}, and this request is paid from a balance or a budget; leave it out`,
    member,
  );
}

function unpriced({ model }: Route, path: string): CallFailure {
  return new CallFailure(
    'unpriced',
    `${path}: the model ${JSON.stringify(model)} has no price, and this call is paid from a balance or a budget; the operator must give it one`,
  );
}
