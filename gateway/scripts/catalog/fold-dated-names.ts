/** Merges dated names into the model they name, and adds display names and release dates. Pure. */
import { samePrices, undatedName } from './choose-entries.ts';
import { type FoldedModel, type ModelFacts, modelKey, type Release } from './model-facts.ts';

/** Providers whose dated names contain the release date; elsewhere it may be that of a later snapshot. */
const NAMED_BY_RELEASE: ReadonlySet<string> = new Set(['openai', 'anthropic']);

/**
 * The models with dated names as aliases, sorted by provider and id. A dated name is an alias only if the undated one
 * is also listed with the same prices and limits; else it stays a separate model. Two entries with one name must have
 * the same prices.
 * @throws Error if they differ: then the source contradicts itself and a person must check.
 */
export function foldDatedNames(
  entries: readonly ModelFacts[],
  releases: ReadonlyMap<string, Release>,
): readonly FoldedModel[] {
  const byKey = new Map<string, ModelFacts>();
  for (const entry of entries) {
    const key = modelKey(entry.provider, entry.id);
    const twin = byKey.get(key);
    if (twin !== undefined && !samePrices(twin, entry)) throw new Error(`${key} is listed twice at different prices`);
    byKey.set(key, entry);
  }
  const aliases = new Map<string, string[]>();
  for (const [key, entry] of byKey) {
    const undated = modelKey(entry.provider, undatedName(entry.id));
    const model = byKey.get(undated);
    if (undated === key || model === undefined || !sameModel(model, entry)) continue;
    aliases.set(undated, [...(aliases.get(undated) ?? []), entry.id]);
    byKey.delete(key);
  }
  return [...byKey.entries()]
    .map(([key, entry]) => ({ ...entry, ...describe(entry, (aliases.get(key) ?? []).sort(), releases) }))
    .sort(compareModels);
}

/** The order of the snapshot: by provider and id. */
export function compareModels(one: FoldedModel, other: FoldedModel): number {
  return compare(one.provider, other.provider) || compare(one.id, other.id);
}

function sameModel(one: ModelFacts, other: ModelFacts): boolean {
  return samePrices(one, other) && one.inputMax === other.inputMax && one.outputMax === other.outputMax;
}

function describe(entry: ModelFacts, aliases: readonly string[], releases: ReadonlyMap<string, Release>) {
  const names = [entry.id, ...aliases];
  const release = names.map((id) => releases.get(modelKey(entry.provider, id))).find(Boolean);
  const dates = NAMED_BY_RELEASE.has(entry.provider) ? names.flatMap((id) => dateInName(id) ?? []) : [];
  const released = release?.released ?? (dates.length === 1 ? dates[0] : undefined) ?? null;
  return { aliases, name: release?.name ?? null, released };
}

/** The date at the end of a dated name, ISO; a model with several dated names has no single release date. */
function dateInName(id: string): string | null {
  const match = /-(20[0-9]{2})-?([0-9]{2})-?([0-9]{2})$/.exec(id);
  return match === null ? null : `${match[1]}-${match[2]}-${match[3]}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
