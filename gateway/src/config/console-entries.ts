/**
 * Combines the configuration with the providers and routes that operators entered, into the served models. The
 * configuration takes precedence; a route takes precedence over models that providers serve without one.
 */
import type { Credential, Provider } from '../providers/provider.ts';
import { credentialsFor } from '../providers/upstream.ts';
import type { EnteredReader, RotationSubject, StoredOutOfRotation, StoredRoute } from '../store/ports/providers.ts';
import type { Config } from './config.ts';
import {
  addConsoleModels,
  type ConsoleProvider,
  type EnteredProviders,
  type OpenCredential,
  resolveConsoleProviders,
} from './console-providers.ts';
import { addConsoleRoutes, type ConsoleRoute } from './console-routes.ts';
import { type ListCatalogNames, type ListedModels, listServedModels, type ServedModel } from './served-models.ts';

/** The entries of operators. */
export interface Entered extends EnteredProviders {
  readonly routes: readonly StoredRoute[];
  readonly outOfRotation: readonly StoredOutOfRotation[];
}

/** Reads everything that was entered. */
export async function readEntered(reader: EnteredReader): Promise<Entered> {
  const [providers, credentials, routes, outOfRotation] = await Promise.all([
    reader.readProviders(),
    reader.readCredentials(),
    reader.readRoutes(),
    reader.readOutOfRotation(),
  ]);
  return { providers, credentials, routes, outOfRotation };
}

interface Sources {
  readonly listCatalogNames: ListCatalogNames;
  /** Models that the providers themselves listed; omitted: no provider did. */
  readonly listed?: ListedModels;
  readonly openCredential: OpenCredential;
}

/** Everything that is served, and the entries with the problems found. */
export interface Served {
  readonly config: Config;
  /** Every public name, aliases included, each with its model and all of its targets. */
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly providers: readonly ConsoleProvider[];
  readonly routes: readonly ConsoleRoute[];
  readonly outOfRotation: readonly StoredOutOfRotation[];
}

/** Resolves the entries against a configuration. */
export function serveEntered(config: Config, entered: Entered, sources: Sources): Served {
  const { listCatalogNames, listed, openCredential } = sources;
  const resolved = resolveConsoleProviders(config, entered, openCredential);
  const configured = listServedModels(config, listCatalogNames, listed);
  const { models, providers } = addConsoleModels(configured, resolved, listCatalogNames, config.defaults);
  const { outOfRotation } = entered;
  return { config, providers, outOfRotation, ...addConsoleRoutes(config, models, entered.routes, providers) };
}

/** Where a model is defined. Without models in the file, it is where its first provider is defined. */
export function sourceOfModel(
  model: ServedModel,
  { config, providers, routes }: Served,
): 'file' | 'environment' | 'demo' | 'console' {
  const [{ provider }] = model.targets;
  if (routes.some((route) => route.model === model)) return 'console';
  if (providers.some((one) => one.provider === provider)) return 'console';
  return config.models?.has(model.name) === true ? 'file' : sourceOfConfigured(config.providersFrom);
}

/** The source of the configuration's own providers. */
export function sourceOfConfigured(from: Config['providersFrom']): 'file' | 'environment' | 'demo' {
  return from === 'built-in' ? 'demo' : from;
}

/** Since when a target or credential is out of rotation, unix ms; null: it is in rotation. */
export function outSince({ outOfRotation }: Pick<Served, 'outOfRotation'>, subject: RotationSubject): number | null {
  const { kind, owner, name } = subject;
  const found = outOfRotation.find((one) => one.kind === kind && one.owner === owner && one.name === name);
  return found?.sinceMs ?? null;
}

/**
 * The models as calls use them: without the targets and credentials that are out of rotation. If all targets of a model,
 * or all credentials of a provider, are out of rotation, they are used nevertheless: the others may have left the
 * configuration since, and the model must not disappear with them.
 */
export function inRotation({ models, outOfRotation }: Served): ReadonlyMap<string, ServedModel> {
  if (outOfRotation.length === 0) return models;
  const isIn = (kind: RotationSubject['kind'], owner: string, name: string) =>
    outSince({ outOfRotation }, { kind, owner, name }) === null;
  const reduced = new Map<ServedModel, ServedModel>();
  const reduce = (model: ServedModel): ServedModel => {
    const left = model.targets.filter(({ name }) => isIn('target', model.name, name));
    const [first, ...others] = (left.length === 0 ? model.targets : left).map((target) => ({
      ...target,
      provider: withCredentials(target.provider, target.model, ({ name }) =>
        isIn('credential', target.provider.name, name),
      ),
    }));
    return first === undefined ? model : { ...model, targets: [first, ...others] };
  };
  return new Map(
    [...models].map(([name, model]) => {
      const one = reduced.get(model) ?? reduce(model);
      reduced.set(model, one);
      return [name, one];
    }),
  );
}

/** The provider with some of its credentials; with all of them if it could not serve the model with those. */
function withCredentials(provider: Provider, model: string, isIn: (credential: Credential) => boolean): Provider {
  if (provider.credentials === null) return provider;
  const [first, ...others] = provider.credentials.pool.filter(isIn);
  if (first === undefined) return provider;
  const reduced = { ...provider, credentials: { ...provider.credentials, pool: [first, ...others] as const } };
  return credentialsFor(reduced, model) === null ? provider : reduced;
}
