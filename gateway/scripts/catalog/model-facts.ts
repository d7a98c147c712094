/** Defines the builder's data about one model, between reading a source and writing the snapshot. */

import type { PicoUsdPerToken } from '../../src/billing/money.ts';
import type { Fees, PublishedPrice } from '../../src/billing/price.ts';
import type { Capability, CatalogProvider, FeeBeside, Modality } from '../../src/catalog/catalog-model.ts';

export interface TierFacts {
  readonly above: number;
  readonly price: PublishedPrice;
}

/** One entry of the price list: a name that the provider's API accepts, and its price. */
export interface ModelFacts {
  readonly provider: CatalogProvider;
  readonly id: string;
  readonly shutdown: string | null;
  readonly inputMax: number | null;
  readonly outputMax: number | null;
  readonly modalities: readonly Modality[];
  readonly capabilities: readonly Capability[];
  readonly price: PublishedPrice;
  readonly tiers: readonly TierFacts[];
  /** Of tools that run upstream, if the response's usage counts their requests. */
  readonly fees: Fees;
  readonly feesBeside: readonly FeeBeside[];
  /** The price list names the page with the price. */
  readonly sourced: boolean;
}

/** The second source's data about a model. */
export interface Release {
  readonly name: string;
  readonly released: string | null;
  readonly input: PicoUsdPerToken | null;
  readonly output: PicoUsdPerToken | null;
}

/** A model of the snapshot: an entry merged with its other names. */
export interface FoldedModel extends ModelFacts {
  readonly aliases: readonly string[];
  readonly name: string | null;
  readonly released: string | null;
}

/** The key that joins both sources' entries of one model. */
export function modelKey(provider: CatalogProvider, id: string): string {
  return `${provider}/${id}`;
}
