/**
 * Parses the snapshot of models that ships with the gateway, and looks up models in it. Configured models and prices
 * are not part of it.
 */
import { parseUsdPerMillion } from '../billing/money.ts';
import {
  fillPrice,
  NO_FEES,
  PRICE_MEMBERS,
  type Price,
  type PriceModifier,
  type PublishedPrice,
  parseFees,
} from '../billing/price.ts';
import { NO_UNITS, parseUnitPrices } from '../billing/unit-prices.ts';
import { EXTRA_COUNTERS, type TierMember } from '../generation/usage.ts';
import type {
  Catalog,
  CatalogModel,
  CatalogProvider,
  Snapshot,
  SnapshotModel,
  SnapshotRates,
} from './catalog-model.ts';
import { ENDPOINT_MODELS } from './endpoint-models.ts';
import snapshot from './models.generated.json';

interface Row {
  readonly provider: CatalogProvider;
  readonly member: TierMember;
  readonly words: readonly string[];
  /** A fraction of the list price. */
  readonly times: readonly [numerator: bigint, denominator: bigint];
  /** Ids of the catalogue; null: every model of the provider. */
  readonly models: ReadonlySet<string> | null;
}

const OPENAI_TIERS =
  'gpt-5 gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.4-mini gpt-5.6 gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol gpt-6.1-sol gpt-6.1-terra';

const ROWS: readonly Row[] = [
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode and
  // https://code.claude.com/docs/en/fast-mode (2026-11-22).
  row('anthropic', 'speed', ['fast'], [2n, 1n], 'claude-opus-4-8 claude-opus-5 claude-opus-5-5'),
  // From Opus 4.6 on: https://platform.claude.com/docs/en/manage-claude/data-residency (2026-11-22).
  row(
    'anthropic',
    'inference_geo',
    ['us'],
    [11n, 10n],
    'claude-fable-5 claude-fable-5-1 claude-haiku-5-5 claude-mythos-5 claude-mythos-5-1 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-sonnet-4-6 claude-sonnet-5 claude-sonnet-5-5',
  ),
  // Sold as a commitment, counted down in the proportions of the list prices:
  // https://platform.claude.com/docs/en/api/service-tiers (2026-11-22).
  row('anthropic', 'service_tier', ['priority'], [1n, 1n], null),
  // https://openai.com/api-priority-processing and https://developers.openai.com/api/docs/pricing (2026-11-22). A
  // request for `fast` is answered by `priority`.
  row('openai', 'service_tier', ['priority', 'fast'], [2n, 1n], OPENAI_TIERS),
  row('openai', 'service_tier', ['priority', 'fast'], [5n, 2n], 'gpt-5.5'),
  row('openai', 'service_tier', ['priority', 'fast'], [9n, 5n], 'gpt-5-mini'),
  row('openai', 'service_tier', ['priority', 'fast'], [7n, 4n], 'gpt-4.1 gpt-4.1-mini o3'),
  row('openai', 'service_tier', ['priority', 'fast'], [17n, 10n], 'gpt-4o'),
  row('openai', 'service_tier', ['priority', 'fast'], [5n, 3n], 'gpt-4o-mini'),
  row('openai', 'service_tier', ['flex'], [1n, 2n], `${OPENAI_TIERS} gpt-5.4-nano gpt-5.5 gpt-5-mini gpt-5-nano o3`),
];

function row(
  provider: CatalogProvider,
  member: TierMember,
  words: readonly string[],
  times: readonly [bigint, bigint],
  models: string | null,
): Row {
  return { provider, member, words, times, models: models === null ? null : new Set(models.split(' ')) };
}

/** The modifiers of a model's price, by its catalogue id; undefined where none is known. */
function findModifiers(provider: CatalogProvider, id: string): readonly PriceModifier[] | undefined {
  const found = ROWS.filter((one) => one.provider === provider && (one.models?.has(id) ?? true));
  if (found.length === 0) return undefined;
  return found.flatMap(({ member, words, times }) => words.map((word) => ({ member, word, times })));
}

/** Every model named in the table, as `provider/id`. */
export function listModifiedModels(): readonly string[] {
  return ROWS.flatMap(({ provider, models }) => [...(models ?? [])].map((id) => `${provider}/${id}`));
}

const RATE_MEMBERS = [...PRICE_MEMBERS, ...EXTRA_COUNTERS] as const;

/** Converts a snapshot. Prices get the version `catalog:<date>/<provider>/<id>@…`. Throws PriceError for an invalid one. */
export function parseSnapshot({ version, models }: Snapshot): Catalog {
  return { version, models: models.map((model) => parseModel(model, version)) };
}

function parseModel(model: SnapshotModel, version: string): CatalogModel {
  const { provider, id, messages } = model;
  return {
    provider,
    id,
    aliases: model.aliases ?? [],
    name: model.name ?? null,
    released: model.released ?? null,
    shutdown: model.shutdown ?? null,
    inputTokensMax: model.input_max ?? null,
    outputTokensMax: model.output_max ?? null,
    modalities: model.modalities,
    capabilities: model.capabilities,
    price: parsePrice(model, version),
    feesBeside: model.fees_beside ?? [],
    gates:
      messages === undefined
        ? null
        : {
            sampling: messages.sampling,
            thinking: messages.thinking,
            effort: messages.effort,
            effortMaxWhenDisabled: messages.effort_max_when_disabled ?? null,
            forcedToolChoice: messages.forced_tool_choice,
          },
  };
}

function parsePrice(model: SnapshotModel, version: string): Price {
  const { provider, id, price, tiers = [], per_1000_requests, per_unit } = model;
  const filled = fillPrice(
    parseRates(price),
    `catalog:${version}/${provider}/${id}`,
    tiers.map(({ above, ...rates }) => ({ ...parseRates(rates), inputTokensAbove: above })),
    per_1000_requests === undefined ? NO_FEES : parseFees(per_1000_requests),
    per_unit === undefined ? NO_UNITS : parseUnitPrices(per_unit),
  );
  const modifiers = findModifiers(provider, id);
  return modifiers === undefined ? filled : { ...filled, modifiers };
}

function parseRates(rates: SnapshotRates): PublishedPrice {
  const parse = (member: (typeof RATE_MEMBERS)[number], text = '') => parseUsdPerMillion(text, member);
  const others = RATE_MEMBERS.flatMap((member) =>
    rates[member] === undefined ? [] : [[member, parse(member, rates[member])]],
  );
  return { ...Object.fromEntries(others), input: parse('input', rates.input), output: parse('output', rates.output) };
}

// The generator and a test check it against `Snapshot`, which its literal type is too wide for.
const catalog = parseSnapshot(snapshot as Snapshot);
const byProvider = new Map<string, CatalogModel[]>();
const byName = new Map<string, Map<string, CatalogModel>>();

for (const model of [...catalog.models, ...parseSnapshot(ENDPOINT_MODELS).models]) {
  const models = byProvider.get(model.provider) ?? [];
  const names = byName.get(model.provider) ?? new Map<string, CatalogModel>();
  byProvider.set(model.provider, models);
  byName.set(model.provider, names);
  models.push(model);
  for (const name of [model.id, ...model.aliases]) names.set(name, model);
}

/**
 * The model that `provider` (one of `CATALOG_PROVIDERS`) serves as `modelName`: its id, or a dated name that the
 * snapshot lists as the same model at the same price. Never a guess: unknown names, dated ones too, yield null, since a
 * similar name may have another price (`gpt-4o-2024-05-13` cost twice as much as `gpt-4o`).
 */
export function findModel(provider: string, modelName: string): CatalogModel | null {
  return byName.get(provider)?.get(modelName) ?? null;
}

/** All models of `provider`, by id; empty for a provider that the catalogue does not know. */
export function listModels(provider: string): readonly CatalogModel[] {
  return byProvider.get(provider) ?? [];
}

/** The names of all models of a provider, aliases included. */
export function listModelNames(provider: string): readonly string[] {
  return listModels(provider).flatMap(({ id, aliases }) => [id, ...aliases]);
}
