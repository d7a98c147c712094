/**
 * Owns the map of public model names to who answers them: the file's models, else everything known of the providers.
 * Looks up no price and asks nobody's rights.
 */
import {
  ALL_PROTOCOLS,
  type Config,
  DEMO_MODELS,
  type ModelConfig,
  NO_CAPABILITIES,
  type ProviderConfig,
  type TargetConfig,
} from './config.ts';

/** By what name the catalogue knows what a target answers with. */
export interface CatalogName {
  readonly provider: string;
  readonly model: string;
}

export interface ServedTarget extends TargetConfig {
  /** Null: a host that the catalogue does not know. */
  readonly catalog: CatalogName | null;
}

/** What a public name stands for. */
export interface ServedModel extends Omit<ModelConfig, 'targets'> {
  /** Calls go to the first; the others wait for routing. */
  readonly targets: readonly [ServedTarget, ...ServedTarget[]];
}

/** Every name that the catalogue's models of one host have there. */
export type ListCatalogNames = (catalogProvider: string) => readonly string[];

/** Models that a provider itself was asked for, by the provider's name. */
export type ListedModels = ReadonlyMap<string, readonly string[]>;

/**
 * All names that are served, aliases too, each with its model. Without `models` in the file these are the names that the
 * catalogue, `listed`, or the demo itself have for each provider; of two providers with one name the earlier answers. A
 * name that is not in the map is not served.
 */
export function listServedModels(
  config: Config,
  listCatalogNames: ListCatalogNames,
  listed: ListedModels = new Map(),
): ReadonlyMap<string, ServedModel> {
  const served = new Map<string, ServedModel>();
  const models = config.models ?? findKnownModels(config, listCatalogNames, listed);
  for (const model of models.values()) {
    const [first, ...others] = model.targets;
    const entry = { ...model, targets: [withCatalog(first), ...others.map(withCatalog)] } satisfies ServedModel;
    for (const name of [model.name, ...model.alias.map((alias) => alias.name)]) served.set(name, entry);
  }
  return served;
}

function findKnownModels(config: Config, listCatalogNames: ListCatalogNames, listed: ListedModels) {
  const models = new Map<string, ModelConfig>();
  for (const provider of config.providers.values()) {
    for (const name of listNames(provider, listCatalogNames, listed)) {
      const timeouts = provider.kind === 'demo' ? null : provider.timeouts;
      const target: TargetConfig = { provider, model: name, timeouts };
      const earlier = models.get(name);
      const targets: ModelConfig['targets'] = earlier === undefined ? [target] : [...earlier.targets, target];
      models.set(name, {
        name,
        alias: [],
        protocols: ALL_PROTOCOLS,
        targets,
        capabilities: NO_CAPABILITIES,
        price: null,
      });
    }
  }
  return models;
}

function listNames(provider: ProviderConfig, listCatalogNames: ListCatalogNames, listed: ListedModels) {
  if (provider.kind === 'demo') return DEMO_MODELS;
  return listed.get(provider.name) ?? (provider.catalogProvider ? listCatalogNames(provider.catalogProvider) : []);
}

/** A target with the catalogue's name of what it answers with. */
export function withCatalog(target: TargetConfig): ServedTarget {
  const host = target.provider.kind === 'demo' ? null : target.provider.catalogProvider;
  return { ...target, catalog: host === null ? null : { provider: host, model: target.model } };
}
