/**
 * Owns the look-up of models in the snapshot that ships with the gateway, loaded once. Knows nothing of configured
 * models and prices, nor of what a provider serves beyond the snapshot.
 */
import type { CatalogModel } from './catalog-model.ts';
import snapshot from './models.generated.json' with { type: 'json' };
import { parseSnapshot } from './parse-snapshot.ts';

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

/** The day of the snapshot, ISO. */
export const catalogVersion: string = catalog.version;

/**
 * The model that `provider` (one of `CATALOG_PROVIDERS`) serves as `modelName`: its id, or a dated name that the snapshot
 * lists as the same model at the same price. Never a guess: an unknown name, a dated one too, is null, since a name that
 * merely looks alike may cost something else (`gpt-4o-2024-05-13` cost twice what `gpt-4o` does).
 */
export function findModel(provider: string, modelName: string): CatalogModel | null {
  return byName.get(provider)?.get(modelName) ?? null;
}

/** Every model of `provider`, by id; none for a provider that the catalogue does not know. */
export function listModels(provider: string): readonly CatalogModel[] {
  return byProvider.get(provider) ?? [];
}
