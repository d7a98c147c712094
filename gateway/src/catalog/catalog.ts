/**
 * Parses the snapshot of models that ships with the gateway, and looks up models in it. Configured models and prices
 * are not part of it.
 */
import { parseUsdPerMillion } from '../billing/money.ts';
import {
  type Fees,
  fillPrice,
  NO_FEES,
  PRICE_MEMBERS,
  type Price,
  type PriceModifier,
  type PublishedPrice,
  type PublishedTier,
  parseFees,
} from '../billing/price.ts';
import { MEDIA_COUNTERS, type TierMember } from '../generation/usage.ts';
import {
  CAPABILITIES,
  CATALOG_PROVIDERS,
  type Catalog,
  type CatalogModel,
  type CatalogProvider,
  EFFORTS,
  FEES_BESIDE,
  type MessagesGates,
  MODALITIES,
  THINKING_TYPES,
} from './catalog-model.ts';
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

type Members = Readonly<Record<string, unknown>>;

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const SNAPSHOT_MEMBERS = new Set(['version', 'sources', 'models']);
const MODEL_MEMBERS = new Set(
  'provider id aliases name released shutdown input_max output_max modalities capabilities price tiers per_1000_requests fees_beside messages'.split(
    ' ',
  ),
);
const RATE_MEMBERS: ReadonlySet<string> = new Set([...PRICE_MEMBERS, ...MEDIA_COUNTERS]);
const TIER_MEMBERS = new Set([...RATE_MEMBERS, 'above']);
const GATE_MEMBERS = new Set('sampling thinking effort effort_max_when_disabled forced_tool_choice'.split(' '));

/**
 * Parses a snapshot. Prices get the version `catalog:<date>/<provider>/<id>@…`.
 * @throws TypeError naming the place, the value found and what was expected; an unknown member is an error too.
 */
export function parseSnapshot(snapshot: unknown): Catalog {
  const members = readMembers(snapshot, 'snapshot', SNAPSHOT_MEMBERS);
  const version = readDate(members.version, 'version');
  const models = readArray(members.models, 'models').map((model, index) => parseModel(model, version, index));
  return { version, models };
}

function parseModel(model: unknown, version: string, index: number): CatalogModel {
  const members = readMembers(model, `models[${index}]`, MODEL_MEMBERS);
  const provider = readWord(members.provider, `models[${index}].provider`, CATALOG_PROVIDERS);
  const id = readText(members.id, `models[${index}].id`);
  const where = `${provider}/${id}`;
  return {
    provider,
    id,
    aliases: readOptional(members.aliases, readArray, `${where} aliases`, []).map((alias) => readText(alias, where)),
    name: readOptional(members.name, readText, `${where} name`, null),
    released: readOptional(members.released, readDate, `${where} released`, null),
    shutdown: readOptional(members.shutdown, readDate, `${where} shutdown`, null),
    inputTokensMax: readOptional(members.input_max, readTokens, `${where} input_max`, null),
    outputTokensMax: readOptional(members.output_max, readTokens, `${where} output_max`, null),
    modalities: readWords(members.modalities, `${where} modalities`, MODALITIES),
    capabilities: readWords(members.capabilities, `${where} capabilities`, CAPABILITIES),
    price: parsePrice(members, version, provider, id),
    feesBeside: readWords(members.fees_beside ?? [], `${where} fees_beside`, FEES_BESIDE),
    gates: members.messages === undefined ? null : parseGates(members.messages, `${where} messages`),
  };
}

function parsePrice(members: Members, version: string, provider: CatalogProvider, id: string): Price {
  const where = `${provider}/${id}`;
  const price = fillPrice(
    parseRates(readMembers(members.price, `${where} price`, RATE_MEMBERS), where),
    `catalog:${version}/${where}`,
    readOptional(members.tiers, readArray, `${where} tiers`, []).map((tier) => parseTier(tier, where)),
    readOptional(members.per_1000_requests, readFees, `${where} per_1000_requests`, NO_FEES),
  );
  const modifiers = findModifiers(provider, id);
  return modifiers === undefined ? price : { ...price, modifiers };
}

function parseTier(tier: unknown, where: string): PublishedTier {
  const members = readMembers(tier, `${where} tier`, TIER_MEMBERS);
  return { ...parseRates(members, where), inputTokensAbove: readTokens(members.above, `${where} tier above`) };
}

function parseRates(members: Members, where: string): PublishedPrice {
  const required = (member: string) => parseUsdPerMillion(readText(members[member], `${where} ${member}`), member);
  const optional = (member: string) => (members[member] === undefined ? undefined : required(member));
  const others = [...RATE_MEMBERS].map((member) => [member, optional(member)]);
  return { ...Object.fromEntries(others), input: required('input'), output: required('output') };
}

function readFees(found: unknown, where: string): Fees {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) refuse(where, found, 'an object');
  const fees = Object.entries(found).map(([kind, fee]) => [kind, readText(fee, `${where} ${kind}`)]);
  return parseFees(Object.fromEntries(fees));
}

function parseGates(gates: unknown, where: string): MessagesGates {
  const members = readMembers(gates, where, GATE_MEMBERS);
  const max = members.effort_max_when_disabled;
  return {
    sampling: readBoolean(members.sampling, `${where} sampling`),
    thinking: readWords(members.thinking, `${where} thinking`, THINKING_TYPES),
    effort: readWords(members.effort, `${where} effort`, EFFORTS),
    effortMaxWhenDisabled: max === undefined ? null : readWord(max, `${where} effort_max_when_disabled`, EFFORTS),
    forcedToolChoice: readBoolean(members.forced_tool_choice, `${where} forced_tool_choice`),
  };
}

function readOptional<Found, Absent>(
  found: unknown,
  read: (found: unknown, where: string) => Found,
  where: string,
  absent: Absent,
): Found | Absent {
  return found === undefined ? absent : read(found, where);
}

function readMembers(found: unknown, where: string, known: ReadonlySet<string>): Members {
  if (typeof found !== 'object' || found === null || Array.isArray(found)) refuse(where, found, 'an object');
  for (const member of Object.keys(found)) {
    if (!known.has(member)) refuse(where, member, `only the members ${[...known].join(', ')}`);
  }
  return found as Members;
}

function readArray(found: unknown, where: string): readonly unknown[] {
  return Array.isArray(found) ? found : refuse(where, found, 'an array');
}

function readWords<Word extends string>(found: unknown, where: string, words: readonly Word[]): readonly Word[] {
  return readArray(found, where).map((word) => readWord(word, where, words));
}

function readWord<Word extends string>(found: unknown, where: string, words: readonly Word[]): Word {
  return words.find((word) => word === found) ?? refuse(where, found, `one of ${words.join(', ')}`);
}

function readText(found: unknown, where: string): string {
  return typeof found === 'string' && found !== '' ? found : refuse(where, found, 'a text');
}

function readDate(found: unknown, where: string): string {
  return typeof found === 'string' && DATE.test(found) ? found : refuse(where, found, 'a date YYYY-MM-DD');
}

function readTokens(found: unknown, where: string): number {
  return Number.isSafeInteger(found) && Number(found) > 0 ? Number(found) : refuse(where, found, 'a whole number > 0');
}

function readBoolean(found: unknown, where: string): boolean {
  return typeof found === 'boolean' ? found : refuse(where, found, 'true or false');
}

function refuse(where: string, found: unknown, expected: string): never {
  throw new TypeError(`catalogue snapshot, ${where}: found ${JSON.stringify(found)}, expected ${expected}`);
}

const catalog = parseSnapshot(snapshot);
const byProvider = new Map<string, CatalogModel[]>();
const byName = new Map<string, Map<string, CatalogModel>>();

for (const model of catalog.models) {
  const models = byProvider.get(model.provider) ?? [];
  const names = byName.get(model.provider) ?? new Map<string, CatalogModel>();
  byProvider.set(model.provider, models);
  byName.set(model.provider, names);
  models.push(model);
  for (const name of [model.id, ...model.aliases]) names.set(name, model);
}

/** The date of the snapshot, ISO. */
export const catalogVersion: string = catalog.version;

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
