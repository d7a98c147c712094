/**
 * Chooses the price of an answer from the model and tier that it reports, among those that the request could reach.
 * Contract, 10.2 and 10.9. Adds up no costs.
 */

import type { Price } from '../../billing/price.ts';
import { priceAt, priceOfTier } from '../../billing/price-book.ts';
import { findModel } from '../../catalog/catalog.ts';
import {
  chargedTier,
  type MediaAndToolUsage,
  type TierWords,
  type Usage,
  type UsagePart,
} from '../../generation/usage.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { Target } from '../../routing/route.ts';
import type { Routed } from '../call.ts';
import type { BillingDeps } from './billing-deps.ts';
import { isSameModel } from './same-model.ts';

/** Usage, with a price for each part where there are several, and the price of the model that answered. */
export interface PricedUsage {
  readonly usage: Usage;
  readonly price: Price;
  /** The price of each version that the parts name. */
  priceOf(version: string): Price;
  /** The answer's tier words, if their price is unknown: the answer was charged as if without them. */
  readonly unknownTier: TierWords | undefined;
}

type Priced = Pick<Routed, 'target' | 'priced' | 'principal' | 'atMs'>;

/** `requested`: the price of the requested model, with the account's mark-up. */
export function priceAnswer(
  call: Priced,
  requested: Price,
  reported: Usage,
  facts: AnswerFacts | null,
  billing: Pick<BillingDeps, 'priced'>,
): PricedUsage {
  const prices = new AnswerPrices(call, requested, reported, facts, billing);
  const served = prices.ofServed(facts?.model ?? null);
  const known = new Map([[served.version, served]]);
  const parts = (reported.extras?.parts ?? []).map((part) => {
    const own = part.model === undefined ? served : prices.ofRun(part.model);
    known.set(own.version, own);
    return { ...part, price_version: own.version };
  });
  const versions = new Set(parts.map((part) => part.price_version));
  const sole = versions.size === 1 ? (known.get(parts[0]?.price_version ?? '') ?? served) : null;
  // Runs at one price are charged as one sum, unless the price depends on the length of each.
  const isSummed = parts.length < 2 || (sole !== null && sole.tiers.length === 0);
  return {
    usage: withParts(reported, isSummed ? undefined : joinToCounters(reported, parts)),
    price: sole ?? served,
    priceOf: (version) => known.get(version) ?? served,
    unknownTier: prices.unknownTier,
  };
}

/** Our own count may have raised the counters; output beyond the sum of the parts is added to the last part. */
function joinToCounters(usage: Usage, parts: readonly UsagePart[]): readonly UsagePart[] {
  const output = parts.reduce((sum, part) => sum + part.output, 0);
  const last = parts.at(-1);
  if (last === undefined || output === usage.output) return parts;
  return [...parts.slice(0, -1), { ...last, output: last.output + usage.output - output }];
}

function withParts(usage: Usage, parts: readonly UsagePart[] | undefined): Usage {
  const { extras, ...counters } = usage;
  if (extras === undefined) return usage;
  const { parts: _, ...others } = extras;
  const kept: MediaAndToolUsage = parts === undefined ? others : { ...others, parts };
  return Object.keys(kept).length === 0 ? counters : { ...counters, extras: kept };
}

class AnswerPrices {
  unknownTier: TierWords | undefined;
  readonly #call: Priced;
  readonly #requested: Price;
  readonly #tier: TierWords;
  readonly #billing: Pick<BillingDeps, 'priced'>;

  constructor(
    call: Priced,
    requested: Price,
    usage: Usage,
    facts: AnswerFacts | null,
    billing: Pick<BillingDeps, 'priced'>,
  ) {
    this.#call = call;
    this.#requested = requested;
    this.#billing = billing;
    // The tier that the answer states takes precedence over the requested one; it may state the default tier.
    this.#tier = { ...call.priced?.members.tier, ...facts?.tier, ...usage.extras?.tier };
  }

  /**
   * Price of the model that answered. If the request named no other model, it is the requested one, whatever name
   * upstream gives it, unless this upstream is known to answer with others.
   */
  ofServed(model: string | null): Price {
    const { target, priced } = this.#call;
    const mayBeOther =
      target.upstream.answersAsOther === true || (priced?.named.some(({ named }) => named.role === 'instead') ?? false);
    return mayBeOther && model !== null ? this.ofRun(model) : this.#ofAsked();
  }

  /** Price of a model that the answer names as one of its runs. */
  ofRun(model: string): Price {
    const { target, priced } = this.#call;
    if (isSameModel(target, model, target.upstream.model)) return this.#ofAsked();
    const named = priced?.named.find((one) => isSameModel(one.target, model, one.named.name));
    if (named !== undefined)
      return this.#ofList(this.#listOf(named.target), { ...this.#tier, ...named.named.tier }) ?? this.#ofAsked();
    const known = target.catalog === null ? null : findModel(target.catalog.provider, model);
    if (known !== null) return this.#ofList(known.price, this.#tier) ?? this.#ofAsked();
    // Unknown model name, from a request that named several: charge the most expensive of them, so that the price is
    // not too low.
    const candidates = (priced?.named ?? []).map((one) => this.#ofList(this.#listOf(one.target), this.#tier));
    return candidates.reduce<Price>(
      (most, one) => (one !== null && one.output > most.output ? one : most),
      this.#ofAsked(),
    );
  }

  #ofAsked(): Price {
    const { target } = this.#call;
    return this.#ofList(this.#listOf(target), this.#tier) ?? this.#requested;
  }

  #listOf(target: Target): Price | null {
    return priceAt(target.prices, this.#call.atMs);
  }

  #ofList(list: Price | null, tier: TierWords): Price | null {
    if (list === null) return null;
    const found = priceOfTier(list, tier);
    if (found === null) this.unknownTier = chargedTier(tier);
    return this.#billing.priced(found ?? list, this.#call.principal.account.markUpPpm);
  }
}
