/**
 * Finds the prices of a batch: those of the tier `batch` where the model has one; else half of the list price at the
 * vendors that sell batches so; else the list price. They are kept with the batch: its end reads no configuration.
 */
import { type Price, parsePriceVersion } from '../../billing/price.ts';
import { pricedWords, priceOfTier } from '../../billing/price-book.ts';
import { chargedTier, type TierWords } from '../../generation/usage.ts';
import type { Target } from '../../routing/route.ts';
import type { BatchTerms } from '../../store/ports/ledger.ts';
import { isSameModel } from '../money/same-model.ts';

/** The price of one model in one of its tiers; of a batch, so `tier` never has `service_tier`. */
export interface TierPrice {
  readonly tier: TierWords;
  readonly price: Price;
}

/** The same in the job of a batch. */
export type KeptPrice = BatchTerms['prices'][number];

/**
 * Vendors whose batches cost half, whatever the model: https://developers.openai.com/api/docs/guides/batch and
 * https://platform.claude.com/docs/en/build-with-claude/batch-processing (2026-11-22).
 */
const HALVING: ReadonlySet<string> = new Set(['openai', 'anthropic']);
const BATCH = 'batch';
const HALF = { member: 'service_tier', word: BATCH, times: [1n, 2n] } as const;

/** The prices of all tiers that an answer may state. `list`: the list price of the target's model. */
export function listBatchPrices({ catalog }: Pick<Target, 'catalog'>, list: Price): readonly TierPrice[] {
  const isOwn = pricedWords(list, 'service_tier').includes(BATCH);
  const isHalved = !isOwn && catalog !== null && HALVING.has(catalog.provider);
  const priced = isHalved ? { ...list, modifiers: [...(list.modifiers ?? []), HALF] } : list;
  const batch: TierWords = isOwn || isHalved ? { service_tier: BATCH } : {};
  const found: TierPrice[] = [];
  for (const speed of ['', ...pricedWords(list, 'speed')]) {
    for (const inference_geo of ['', ...pricedWords(list, 'inference_geo')]) {
      const tier = { ...(speed !== '' && { speed }), ...(inference_geo !== '' && { inference_geo }) };
      const price = priceOfTier(priced, { ...batch, ...tier });
      if (price !== null) found.push({ tier, price });
    }
  }
  return found;
}

/** The price of the tier that a request asks for or an answer states, whatever its `service_tier`; undefined: unknown. */
export function findTier<Priced extends { readonly tier: TierWords }>(
  prices: readonly Priced[],
  words: TierWords | undefined,
): Priced | undefined {
  const asked = chargedTier(words);
  return prices.find(({ tier }) => tier.speed === asked?.speed && tier.inference_geo === asked?.inference_geo);
}

/** Looks up the prices of a batch by what its answers state. */
export class KeptPrices {
  readonly #catalog: Target['catalog'];
  readonly #byModel: ReadonlyMap<string, readonly KeptPrice[]>;
  readonly #parsed = new Map<string, Price>();
  /** By the name that answers gave. */
  readonly #known = new Map<string, readonly KeptPrice[]>();

  /** `vendor`: the catalogue's name of the provider; null: it has none. At least one price. */
  constructor(prices: readonly KeptPrice[], vendor: string | null) {
    this.#byModel = Map.groupBy(prices, ({ model }) => model);
    this.#catalog = vendor === null ? null : { provider: vendor, model: '' };
  }

  /** Of an unknown model, the most expensive; of an unknown tier, that of the batch. */
  find(model: string | null, words: TierWords | undefined): Price {
    const prices = this.#pricesOf(model ?? '');
    return this.parse((findTier(prices, words) ?? prices[0])?.version ?? '');
  }

  parse(version: string): Price {
    const price = this.#parsed.get(version) ?? parsePriceVersion(version);
    this.#parsed.set(version, price);
    return price;
  }

  #pricesOf(model: string): readonly KeptPrice[] {
    let found = this.#known.get(model);
    if (found === undefined) {
      const all = [...this.#byModel];
      const same = all.find(([name]) => isSameModel({ catalog: this.#catalog }, model, name));
      found = same?.[1] ?? this.#dearest(all.map(([, prices]) => prices));
      // Answers name a few models; a hostile one may name many.
      if (this.#known.size < KNOWN_MAX) this.#known.set(model, found);
    }
    return found;
  }

  #dearest(all: ReadonlyArray<readonly KeptPrice[]>): readonly KeptPrice[] {
    const outputOf = ([first]: readonly KeptPrice[]) => this.parse(first?.version ?? '').output;
    return all.reduce((most, one) => (outputOf(one) > outputOf(most) ? one : most));
  }
}

const KNOWN_MAX = 1_000;
