/**
 * Selects the prices of vendors' models at clouds: those of the price list that are the vendor's own list price times
 * the factor of the place. Any other price depends on more than a model's name and place, and is left out. Pure.
 */
import type { PublishedPrice } from '../../src/billing/price.ts';
import type { CatalogProvider } from '../../src/catalog/catalog-model.ts';
import { bedrock } from '../../src/providers/kinds/bedrock.ts';
import { vertex } from '../../src/providers/kinds/vertex.ts';
import type { RemoteKind } from '../../src/providers/provider.ts';
import { type FoldedModel, modelKey, type TierFacts } from './model-facts.ts';
import { type Entry, readFacts } from './price-list-facts.ts';

type Factor = readonly [numerator: bigint, denominator: bigint];

const LIST: Factor = [1n, 1n];
/** For a geography or region: the price list, and https://docs.aws.amazon.com/bedrock/latest/userguide/global-cross-region-inference.html (2026-11-23). */
const REGIONAL: Factor = [11n, 10n];
const GOVERNMENT: Factor = [6n, 5n];

/** A model at a cloud. */
interface Place {
  readonly provider: CatalogProvider;
  readonly id: string;
  readonly kind: RemoteKind;
  /** Of the vendor's price, and of the price in the list. */
  readonly ofVendor: Factor;
  readonly ofListed: Factor;
}

const PROFILE = /^(global|us|us-gov|eu|jp|au|apac)\.anthropic\.claude-/;
const AT_VERTEX = /^(?:vertex_ai\/)?((?:claude|gemini)-[^/]+)$/;

function placesOf(
  key: string,
  { litellm_provider, mode, regional_endpoint_uplift_multiplier }: Entry,
): readonly Place[] {
  if (typeof litellm_provider !== 'string' || mode !== 'chat') return [];
  const [, geography] = PROFILE.exec(key) ?? [];
  if (geography !== undefined && litellm_provider.startsWith('bedrock')) {
    const ofVendor = geography === 'global' ? LIST : geography === 'us-gov' ? GOVERNMENT : REGIONAL;
    return [{ provider: 'bedrock', id: key, kind: bedrock, ofVendor, ofListed: LIST }];
  }
  const [, id] = AT_VERTEX.exec(key) ?? [];
  if (id === undefined || !litellm_provider.startsWith('vertex_ai')) return [];
  const global = { provider: 'vertex', id, kind: vertex, ofVendor: LIST, ofListed: LIST } as const;
  return regional_endpoint_uplift_multiplier === 1.1
    ? [global, { ...global, provider: 'vertex-regional', ofVendor: REGIONAL, ofListed: REGIONAL }]
    : [global];
}

export interface CloudChoice {
  readonly chosen: readonly FoldedModel[];
  /** `provider/id reason`, in the list's order. */
  readonly refused: readonly string[];
}

/** `vendors`: the models of the snapshot so far. `today`: ISO. */
export function chooseCloudEntries(
  list: Readonly<Record<string, Entry>>,
  vendors: readonly FoldedModel[],
  today: string,
): CloudChoice {
  const known = new Map(
    vendors.flatMap((model) => [model.id, ...model.aliases].map((id) => [modelKey(model.provider, id), model])),
  );
  const chosen = new Map<string, FoldedModel>();
  const refused: string[] = [];
  for (const [key, entry] of Object.entries(list)) {
    for (const place of placesOf(key, entry)) {
      const found = readAtCloud(place, entry, known, today);
      const name = modelKey(place.provider, place.id);
      // A later entry of the same name differs only in what it adds: both have the vendor's price.
      if (typeof found !== 'string') chosen.set(name, found);
      else refused.push(`${name} ${found}`);
    }
  }
  return { chosen: [...chosen.values()], refused };
}

function readAtCloud(
  { provider, id, kind, ofVendor, ofListed }: Place,
  entry: Entry,
  known: ReadonlyMap<string, FoldedModel>,
  today: string,
): FoldedModel | string {
  const facts = readFacts(entry, provider, id);
  if (typeof facts === 'string') return facts;
  const name = kind.hostedModel?.(id, {})?.catalog;
  const vendor = name === undefined ? undefined : known.get(`${name.provider}/${name.model}`);
  if (vendor === undefined) return 'is no model of the catalogue at its vendor';
  if (facts.shutdown !== null && facts.shutdown <= today) return `was shut down on ${facts.shutdown}`;
  const expected = scale(vendor.price, ofVendor);
  const listed = scale(facts.price, ofListed);
  const tiers = scaleTiers(facts.tiers, ofListed);
  if (expected === null || listed === null || tiers === null) return 'has a price of too many digits';
  if (listed.input !== expected.input || listed.output !== expected.output) return 'has another price than its vendor';
  if (vendor.tiers.length > 0 && tiers.length === 0) return 'lacks the tiers of its vendor';
  return {
    ...vendor,
    provider,
    id,
    aliases: [],
    shutdown: facts.shutdown,
    inputMax: facts.inputMax ?? vendor.inputMax,
    outputMax: facts.outputMax ?? vendor.outputMax,
    price: { ...expected, ...listed },
    tiers,
  };
}

/** Without the members that have no price; null: a price has more digits than prices may have. */
function scale(price: PublishedPrice, [numerator, denominator]: Factor): PublishedPrice | null {
  const scaled = Object.entries(price).flatMap(([member, rate]) =>
    rate === undefined ? [] : [[member, rate * numerator] as const],
  );
  if (scaled.some(([, rate]) => rate % denominator !== 0n)) return null;
  const rates = Object.fromEntries(scaled.map(([member, rate]) => [member, rate / denominator]));
  return { ...rates, input: rates.input ?? 0n, output: rates.output ?? 0n };
}

function scaleTiers(tiers: readonly TierFacts[], factor: Factor): readonly TierFacts[] | null {
  const scaled: TierFacts[] = [];
  for (const { above, price } of tiers) {
    const rates = scale(price, factor);
    if (rates === null) return null;
    scaled.push({ above, price: rates });
  }
  return scaled;
}
