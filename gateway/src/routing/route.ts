/** Builds the table from public model names to targets and prices. Rebuilt at start and at each reload. */

import { FREE_PRICE, type Price } from '../billing/price.ts';
import { addPeriods, type PriceBook, type PricePeriod, parsePriceBook, priceAt } from '../billing/price-book.ts';
import type { RoutingConfig } from '../config/config.ts';
import { type CatalogName, type ServedModel, type ServedTarget, servedProtocols } from '../config/served-models.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import type { UpstreamTraits } from '../protocols/upstream-traits.ts';
import type { Upstream } from '../providers/provider.ts';
import { findHosted } from '../providers/quirks.ts';
import { openUpstream } from '../providers/upstream.ts';
import { type ModelFacts, reasons, traitsOf } from './upstream-traits.ts';

/** Looks up price and facts of a model at a provider in the catalog; null: the catalog does not know it. */
export type FindFacts = (catalogProvider: string, model: string) => (ModelFacts & { readonly price: Price }) | null;

/** The prices of a model that were set in the console; ignored if the file sets the model's price. */
export type FindSetPrices = (model: string) => readonly PricePeriod[];

const NONE_SET: FindSetPrices = () => [];

/** A public model: its names, its endpoints, and the targets that serve it. */
export interface Route {
  /** The name that the operator gave, and every other public name. */
  readonly model: string;
  readonly names: readonly string[];
  /** The endpoints that serve it under this name: those of its targets. An alias may have fewer than its model. */
  readonly protocols: readonly ClientProtocolName[];
  readonly routing: RoutingConfig;
  /** In the order of the file. */
  readonly targets: readonly [Target, ...Target[]];
}

/** One model of one provider that serves a route. */
export interface Target {
  /** Unique in its route. */
  readonly name: string;
  /** The lowest is tried first. */
  readonly priority: number;
  /** Its share among the targets of its priority, 0: only as a fallback; null: none was given. */
  readonly weight: number | null;
  /** Open calls at once; null: no limit. */
  readonly maxConcurrency: number | null;
  /** Data tags, such as `eu`. */
  readonly tags: readonly string[];
  /** Its `key` identifies the target in everything that is learned about it. */
  readonly upstream: Upstream;
  /** What the upstream's model and provider accept, for translated requests. */
  readonly traits: UpstreamTraits;
  /** Upstream members that it has recently refused; absent: none. */
  readonly refuses?: readonly string[];
  /** Which of its responses may cost tokens that are not visible, so that metering a stream undercounts. */
  readonly hiddenReasoning: HiddenReasoning;
  /** The catalog's name of the model; null: the catalog does not know it. */
  readonly catalog: CatalogName | null;
  /** The price at each time (`priceAt`, at the call's arrival). */
  readonly prices: PriceBook;
}

export type RouteTable = ReadonlyMap<string, Route>;

/**
 * Every public name, including aliases, with its route. All names of a model share its targets; an alias with its own
 * endpoints has its own route.
 */
export function buildRouteTable(
  models: ReadonlyMap<string, ServedModel>,
  findFacts: FindFacts,
  findSetPrices: FindSetPrices = NONE_SET,
): RouteTable {
  const built = new Map<ServedModel, Route>();
  const table = new Map<string, Route>();
  for (const [name, model] of models) {
    const route = built.get(model) ?? buildRoute(model, findFacts, findSetPrices);
    built.set(model, route);
    const alias = model.alias.find((one) => one.name === name);
    const restricted = alias !== undefined && alias.protocols.length < model.protocols.length;
    const protocols = restricted ? route.protocols.filter((one) => alias.protocols.includes(one)) : route.protocols;
    table.set(name, restricted ? { ...route, protocols } : route);
  }
  return table;
}

function buildRoute(model: ServedModel, findFacts: FindFacts, findSetPrices: FindSetPrices): Route {
  const [first, ...others] = model.targets;
  const build = (target: ServedTarget) => buildTarget(model, target, findFacts, findSetPrices);
  const targets: Route['targets'] = [build(first), ...others.map(build)];
  return {
    model: model.name,
    names: [model.name, ...model.alias.map((alias) => alias.name)],
    protocols: servedProtocols(model),
    routing: model.routing,
    targets,
  };
}

function buildTarget(
  model: ServedModel,
  target: ServedTarget,
  findFacts: FindFacts,
  findSetPrices: FindSetPrices,
): Target {
  const hosted = target.catalog === null ? findHosted(target.provider, target.model) : null;
  const find = (name: CatalogName | null) => (name === null ? null : findFacts(name.provider, name.model));
  const facts = find(target.catalog ?? hosted?.catalog ?? null);
  const listed = targetPrice(target, target.catalog === null ? find(hosted?.priced ?? null) : facts);
  const written = target.price ?? model.price;
  const traits = traitsOf(target, facts, model.capabilities);
  return {
    name: target.name,
    priority: target.priority,
    weight: target.weight,
    maxConcurrency: target.maxConcurrency,
    tags: target.tags,
    upstream: openUpstream({ ...target, endpoints: model.protocols }),
    traits,
    hiddenReasoning: hiddenReasoningOf(target, reasons(facts, model.capabilities), traits),
    catalog: target.catalog,
    prices: written === null ? addPeriods(listed, findSetPrices(model.name)) : parsePriceBook(written, listed),
  };
}

/** `priced`: the catalog's entry of the target's own host. */
function targetPrice({ provider }: ServedTarget, priced: ReturnType<FindFacts>): Price | null {
  return provider.kind.local === null ? (priced?.price ?? null) : FREE_PRICE;
}

/** No responses, those whose request asks for reasoning, or all. */
type HiddenReasoning = 'never' | 'on_request' | 'always';

/**
 * `never` for a model not known to reason: nothing is refused on a guess. `reasons` null: neither the catalog nor the
 * file says, so OpenAI's model names decide.
 */
export function hiddenReasoningOf(
  { provider }: Pick<ServedTarget, 'provider'>,
  reasons: boolean | null,
  { chat }: UpstreamTraits,
): HiddenReasoning {
  return (reasons ?? (chat.efforts ?? []).length > 0) ? provider.quirks.hiddenReasoning : 'never';
}

/**
 * The public name of the model with the cheapest output at `nowMs` over the protocol; models without a price come last.
 */
export function suggestModel(routes: RouteTable, protocol: ClientProtocolName, nowMs: number): string | null {
  const speaking = [...routes].filter(([, route]) => route.protocols.includes(protocol));
  const priced = speaking.map(([name, route]) => ({ name, price: priceAt(route.targets[0].prices, nowMs) }));
  return priced.sort(byPrice)[0]?.name ?? null;
}

function byPrice({ price: one }: { price: Price | null }, { price: other }: { price: Price | null }): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Number(one.output - other.output);
}
