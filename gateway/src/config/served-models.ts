/**
 * Maps public model names to their targets: the file's models, or everything known of the providers. Looks up no price
 * and checks no permission.
 */
import { CLIENT_PROTOCOL_NAMES, type ClientProtocolName } from '../protocols/names.ts';
import type { Provider } from '../providers/provider.ts';
import { credentialsFor, protocolsFor } from '../providers/upstream.ts';
import { type Config, type ModelConfig, NO_CAPABILITIES, type RoutingDefaults, type TargetConfig } from './config.ts';
import { chooseRouting, plainTarget } from './resolve-routing.ts';

/** The catalog's name of a target's model. */
export interface CatalogName {
  readonly provider: string;
  readonly model: string;
}

export interface ServedTarget extends TargetConfig {
  /** Null: the catalog does not know the provider. */
  readonly catalog: CatalogName | null;
}

/** The model behind a public name. */
export interface ServedModel extends Omit<ModelConfig, 'targets'> {
  readonly targets: readonly [ServedTarget, ...ServedTarget[]];
}

/** The endpoints of a model that a target serves. */
export function servedProtocols({ protocols, targets }: ServedModel): readonly ClientProtocolName[] {
  const served = targets.map((target) => protocolsFor({ ...target, endpoints: protocols }));
  return protocols.filter((name) => served.some((formats) => formats[name] !== null));
}

/** All names of the catalog's models at one provider. */
export type ListCatalogNames = (catalogProvider: string) => readonly string[];

/** Models that a provider itself listed, by the provider's name. */
export type ListedModels = ReadonlyMap<string, readonly string[]>;

/**
 * All served names, including aliases, each with its model. Without `models` in the file these are the names that the
 * catalog, `listed`, or the demo have for each provider; if two providers share a name, the earlier one answers. A name
 * that is not in the map is not served.
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
      if (credentialsFor(provider, name) === null) continue;
      const target = plainTarget(provider, name);
      const earlier = models.get(name)?.targets ?? [];
      models.set(name, plainModel(name, earlier, target, config.defaults.routing));
    }
  }
  return models;
}

/** A model without options: its earlier targets, and one more. */
export function plainModel<Target extends TargetConfig>(
  name: string,
  earlier: readonly Target[],
  target: Target,
  routing: RoutingDefaults,
): Omit<ModelConfig, 'targets'> & { readonly targets: readonly [Target, ...Target[]] } {
  const [first = target, ...others] = [...earlier, target];
  return {
    name,
    alias: [],
    protocols: CLIENT_PROTOCOL_NAMES,
    targets: [first, ...others],
    routing: chooseRouting(routing, [first, ...others]),
    capabilities: NO_CAPABILITIES,
    price: null,
  };
}

function listNames(provider: Provider, listCatalogNames: ListCatalogNames, listed: ListedModels) {
  if (provider.kind.local !== null) return provider.kind.local.models;
  return listed.get(provider.name) ?? (provider.catalogProvider ? listCatalogNames(provider.catalogProvider) : []);
}

/** Adds the catalog's name of the target's model. */
export function withCatalog(target: TargetConfig): ServedTarget {
  const host = target.provider.catalogProvider;
  return { ...target, catalog: host === null ? null : { provider: host, model: target.model } };
}
