/**
 * Chooses the prices at which a call is held that names other models or requests a tier: the highest price that may
 * apply, plus the models that run in addition. Contract, 10.2 and 10.9. Takes nothing from any limit.
 */
import type { Price } from '../../billing/price.ts';
import { priceAt, pricedWords, priceOfTier } from '../../billing/price-book.ts';
import { chooseHold, type HoldRequest, type HoldSlice, SLICE_TOKENS } from '../../billing/reserve.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { chargedTier, TIER_MEMBERS, type TierWords } from '../../generation/usage.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { PricedRequest } from '../plan/named-models.ts';

/** Prices with the account's mark-up. */
export interface HoldPrices {
  /** Price of the requested model and tier. */
  readonly requested: Price;
  /**
   * Prices of all models that may answer instead, each with its own output token maximum; null: the request's maximum
   * applies.
   */
  readonly others: readonly { readonly price: Price; readonly outputTokensMax: number | null }[];
  /** Prices of models that work for the answering model. */
  readonly beside: readonly { readonly price: Price; readonly outputTokensMax: number; readonly runs: number }[];
}

export interface PriceQuery {
  readonly route: Route;
  readonly target: Target;
  readonly request: PricedRequest;
  readonly atMs: number;
  /** A price is required: a balance or a budget pays for the call. */
  readonly isBound: boolean;
  /** With the account's mark-up. */
  priced(list: Price): Price;
}

/**
 * Null if the requested model has no price.
 * @throws CallFailure for a bound call: `invalid_request` naming the member whose price is unknown; `unpriced` if a
 * named model has no price.
 */
export function chooseHoldPrices(requested: PriceQuery): HoldPrices | null {
  const { target, request, atMs, priced } = requested;
  const { members, named } = request;
  const list = priceAt(target.prices, atMs);
  if (list === null) return null;
  const [unknown] = members.unpriced;
  if (unknown !== undefined && requested.isBound && list.fees !== null) {
    throw refuseMember(unknown, 'the gateway cannot determine what the answer will cost with it', requested);
  }
  const base = tierPrice(list, members.tier, requested);
  const others: HoldPrices['others'][number][] = autoPrices(list, members.tier).map((price) => ({
    price: priced(price),
    outputTokensMax: null,
  }));
  const beside: HoldPrices['beside'][number][] = [];
  for (const one of named) {
    const found = priceAt(one.target.prices, atMs);
    if (found === null && requested.isBound) throw unpriced(one.route, one.named.path);
    if (found === null) continue;
    const price = priced(tierPrice(found, { ...members.tier, ...one.named.tier }, requested));
    const { outputTokensMax, runs } = one.named;
    if (one.named.role === 'instead') others.push({ price, outputTokensMax });
    else beside.push({ price, runs, outputTokensMax: outputTokensMax ?? SLICE_TOKENS });
  }
  return { requested: priced(base), others, beside };
}

/** The hold for the most expensive model that may answer; its request is also used to extend the hold of a stream. */
export function chooseDearestHold(
  holdRequest: HoldRequest,
  { others, beside }: HoldPrices,
): { readonly holdRequest: HoldRequest; readonly slice: HoldSlice } {
  let dearest = { holdRequest, slice: chooseHold(holdRequest) };
  for (const { price, outputTokensMax } of others) {
    const most =
      holdRequest.outputTokensMax === null ? null : Math.max(holdRequest.outputTokensMax, outputTokensMax ?? 0);
    const other = { ...holdRequest, price, outputTokensMax: most };
    const slice = chooseHold(other);
    if (slice.amount > dearest.slice.amount) dearest = { holdRequest: other, slice };
  }
  let more = 0n;
  for (const { price, outputTokensMax, runs } of beside) {
    const run = { ...holdRequest, mode: 'strict', stream: false, price, outputTokensMax, extras: undefined } as const;
    more += chooseHold(run).amount * BigInt(runs);
  }
  if (more === 0n) return dearest;
  return { holdRequest: dearest.holdRequest, slice: { ...dearest.slice, amount: dearest.slice.amount + more } };
}

/**
 * Falls back to the list price if the call is not bound and the tier's price is unknown: the record says which tier
 * answered.
 */
function tierPrice(list: Price, tier: TierWords, requested: PriceQuery): Price {
  const found = priceOfTier(list, tier);
  if (found !== null) return found;
  if (!requested.isBound) return list;
  const member = TIER_MEMBERS.find(
    (one) => tier[one] !== undefined && priceOfTier(list, { [one]: tier[one] }) === null,
  );
  throw refuseMember(
    member ?? 'service_tier',
    `the price of ${JSON.stringify(member && tier[member])} is not known here`,
    requested,
  );
}

/** `auto` leaves the choice of tier to upstream: any tier with a price may apply. */
function autoPrices(list: Price, tier: TierWords): readonly Price[] {
  if (tier.service_tier !== 'auto') return [];
  return pricedWords(list, 'service_tier').flatMap((word) => {
    const price = priceOfTier(list, { ...chargedTier(tier), service_tier: word });
    return price === null ? [] : [price];
  });
}

function refuseMember(member: string, why: string, { route }: PriceQuery): CallFailure {
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
