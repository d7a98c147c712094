/**
 * Resolves the routes entered in the console as the models of the configuration file are resolved: with the same schema,
 * rules and messages. The configuration takes precedence.
 */
import type { Provider } from '../providers/provider.ts';
import type { DefinitionTree, RouteDefinition, StoredRoute } from '../store/ports/providers.ts';
import type { Config, ModelConfig } from './config.ts';
import type { ConsoleProvider } from './console-providers.ts';
import { type Fault, quoteText, renderPath } from './file/config-problem.ts';
import { explainIssue } from './file/explain-issue.ts';
import { fileSchema } from './file/file-schema.ts';
import type { ReadYaml, YamlTree } from './file/yaml-tree.ts';
import { resolveModels } from './resolve-models.ts';
import { type ServedModel, withCatalog } from './served-models.ts';

/** A route as entered, and the model resolved from it. */
export interface ConsoleRoute {
  readonly entry: StoredRoute;
  /** Null: it is not used. */
  readonly model: ServedModel | null;
  /** Its problems, as sentences for the operator; null: no problem. */
  readonly problem: string | null;
}

/** The providers that routes may name. */
export interface NamedProviders {
  /** Those that can be used. */
  readonly usable: ReadonlyMap<string, Provider>;
  /** All that exist. */
  readonly names: ReadonlySet<string>;
}

/** The configuration's providers and the console's. */
export function providersOf({ providers }: Config, entered: readonly ConsoleProvider[]): NamedProviders {
  const usable = new Map(providers);
  for (const { provider } of entered) if (provider !== null) usable.set(provider.name, provider);
  return { usable, names: new Set([...providers.keys(), ...entered.map(({ entry }) => entry.name)]) };
}

/** A fault of a definition: the path of its member (`targets.0.weight`), what was found, expected, and the remedy. */
export interface RouteFault extends Fault {
  readonly member: string;
}

export type ParsedRoute =
  | { readonly model: ModelConfig; readonly faults: readonly [] }
  | { readonly model: null; readonly faults: readonly RouteFault[] };

/** Validates a definition as a model of the configuration file. No faults without a model: a provider is not usable. */
export function parseRoute(
  name: string,
  definition: RouteDefinition,
  { usable, names }: NamedProviders,
  { defaults }: Pick<Config, 'defaults'>,
): ParsedRoute {
  const tree: YamlTree = { models: { [name]: textTree(definition) } };
  const faults: RouteFault[] = [];
  const start = renderPath(['models', name]);
  const add = (path: string, { found, expected, advice }: Fault) =>
    void faults.push({ member: memberPath(path.slice(start.length)), found, expected, advice });
  const shape = fileSchema.safeParse(tree);
  for (const issue of shape.error?.issues ?? []) {
    for (const problem of explainIssue(issue, placeless(tree), '')) add(problem.path, problem);
  }
  if (!shape.success) return { model: null, faults };
  const models = resolveModels(shape.data.models ?? {}, usable, names, defaults.routing, (path, fault) =>
    add(renderPath(path), fault),
  );
  const model = models.get(name) ?? null;
  return model === null || faults.length > 0 ? { model: null, faults } : { model, faults: [] };
}

/** Values as the text that a file would have. */
function textTree(value: DefinitionTree): YamlTree {
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.map(textTree);
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, textTree(inner)]));
}

function placeless(tree: YamlTree): ReadYaml {
  const place = { line: 1, column: 1, written: null };
  return { tree, problems: [], placeOf: () => place, nameAt: () => place };
}

/** `.targets[0].weight` → `targets.0.weight`. */
function memberPath(path: string): string {
  return path.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '');
}

/** `targets.0.weight: found 'x', expected a whole number from 0 to 1000. Correct the number.` */
export function renderRouteFault({ member, found, expected, advice }: RouteFault): string {
  return `${member === '' ? '' : `${member}: `}found ${found}, expected ${expected}. ${advice}`;
}

/**
 * The models with those of the routes, which replace models that no one configured. A route with a name or alias that the
 * file has is not used. A target whose provider is gone is left out.
 */
export function addConsoleRoutes(
  config: Config,
  served: ReadonlyMap<string, ServedModel>,
  entries: readonly StoredRoute[],
  entered: readonly ConsoleProvider[],
): { readonly models: ReadonlyMap<string, ServedModel>; readonly routes: readonly ConsoleRoute[] } {
  const models = new Map(served);
  const taken = new Set<string>();
  for (const { name, alias } of config.models?.values() ?? []) {
    for (const one of [name, ...alias.map((each) => each.name)]) taken.add(one);
  }
  const providers = providersOf(config, entered);
  const routes = entries.map((entry): ConsoleRoute => {
    const unused = (problem: string): ConsoleRoute => {
      // A request must not go where the operator did not send it.
      if (!taken.has(entry.model)) models.delete(entry.model);
      return { entry, model: null, problem };
    };
    const { definition, gone } = withoutGone(entry.definition, providers);
    const { model, faults } = parseRoute(entry.model, definition, providers, config);
    if (model === null) {
      return unused(
        faults.length > 0
          ? faults.map(renderRouteFault).join(' ')
          : 'None of its providers can be used; see providers.',
      );
    }
    const names = [model.name, ...model.alias.map(({ name }) => name)];
    const clash = names.find((name) => taken.has(name));
    if (clash !== undefined) {
      return unused(
        `The name ${quoteText(clash)} belongs to another model that takes precedence. Remove this route, or give it another name.`,
      );
    }
    const [first, ...others] = model.targets;
    const one: ServedModel = { ...model, targets: [withCatalog(first), ...others.map(withCatalog)] };
    for (const name of names) {
      taken.add(name);
      models.set(name, one);
    }
    return { entry, model: one, problem: gone.length === 0 ? null : sayGone(gone) };
  });
  return { models, routes };
}

/** The definition without the targets of providers that do not exist or cannot be used, as far as others remain. */
function withoutGone(definition: RouteDefinition, { usable }: NamedProviders) {
  const targets = Array.isArray(definition.targets) ? (definition.targets as readonly DefinitionTree[]) : [];
  const isThere = (target: DefinitionTree) => usable.has(providerOf(target));
  const left = targets.filter(isThere);
  if (left.length === 0 || left.length === targets.length) return { definition, gone: [] };
  return { definition: { ...definition, targets: left }, gone: targets.filter((one) => !isThere(one)).map(providerOf) };
}

/** The providers that the targets of a definition name. */
export function providersIn({ targets }: RouteDefinition): readonly string[] {
  return Array.isArray(targets) ? targets.map(providerOf) : [];
}

/** The provider that a target names; empty: none. */
function providerOf(target: DefinitionTree): string {
  const provider = typeof target === 'object' && 'provider' in target ? target.provider : '';
  return typeof provider === 'string' ? provider : '';
}

function sayGone(providers: readonly string[]): string {
  return `Its targets at ${[...new Set(providers)].map(quoteText).join(', ')} are not used: there is no such provider, or it cannot be used. Change the targets of this route.`;
}
