/** Owns the table from public model names to who answers them, at what price. Built at start and at each reload. */
import { FREE_PRICE, type Price } from '../billing/price.ts';
import { addPeriods, type PriceBook, type PricePeriod, parsePriceBook, priceAt } from '../billing/price-book.ts';
import type { Protocol } from '../config/config.ts';
import type { CatalogName, ServedModel, ServedTarget } from '../config/served-models.ts';
import type { UpstreamTraits } from '../protocols/upstream-traits.ts';
import { buildUpstream, type Upstream } from '../providers/upstream.ts';
import { type ModelFacts, reasons, traitsOf } from './upstream-traits.ts';

/** What the table needs to know of the catalogue: price and facts of a model at a host; null: it does not know it. */
export type FindFacts = (catalogProvider: string, model: string) => (ModelFacts & { readonly price: Price }) | null;

/** The prices of a model that were set in the console; of a model whose price the file sets they do not count. */
export type FindSetPrices = (model: string) => readonly PricePeriod[];

const NONE_SET: FindSetPrices = () => [];

/** Who answers a model. Calls go to the first upstream. */
export interface Route {
  /** The name that the operator gave, and every other public name. */
  readonly model: string;
  readonly names: readonly string[];
  /** The endpoints that serve it under the name that led here: an alias may have fewer than its model. */
  readonly protocols: readonly Protocol[];
  readonly upstream: Upstream;
  /** What the upstream's model and host take, for requests that are translated. */
  readonly traits: UpstreamTraits;
  /** Upstream's members that it has refused of late; absent: none. */
  readonly refuses?: readonly string[];
  /** Which of its answers may cost tokens that do not show, so that metering a stream falls short. */
  readonly hiddenReasoning: HiddenReasoning;
  /** By what name the catalogue knows the model; null: it does not. */
  readonly catalog: CatalogName | null;
  /** Which price is in force when (`priceAt`, at the call's arrival). */
  readonly prices: PriceBook;
}

export type RouteTable = ReadonlyMap<string, Route>;

/**
 * Every public name, aliases too, with its route. All names of a model share its upstream; an alias with endpoints of its
 * own has a route of its own.
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
    table.set(name, restricted ? { ...route, protocols: alias.protocols } : route);
  }
  return table;
}

function buildRoute(model: ServedModel, findFacts: FindFacts, findSetPrices: FindSetPrices): Route {
  const [target] = model.targets;
  const facts = target.catalog === null ? null : findFacts(target.catalog.provider, target.catalog.model);
  const listed = targetPrice(target, facts);
  const traits = traitsOf(target, facts, model.capabilities);
  return {
    model: model.name,
    names: [model.name, ...model.alias.map((alias) => alias.name)],
    protocols: model.protocols,
    upstream: buildUpstream(target),
    traits,
    hiddenReasoning: hiddenReasoningOf(target, reasons(facts, model.capabilities), traits),
    catalog: target.catalog,
    prices: model.price === null ? addPeriods(listed, findSetPrices(model.name)) : parsePriceBook(model.price, listed),
  };
}

function targetPrice({ provider }: ServedTarget, facts: ReturnType<FindFacts>): Price | null {
  return provider.kind === 'demo' ? FREE_PRICE : (facts?.price ?? null);
}

/** Of none, of those whose request asks for reasoning, or of all. */
type HiddenReasoning = 'never' | 'asked' | 'always';

/**
 * Of a model that nobody knows to reason, none: nothing is refused for a guess. `reasons` null: neither the catalogue nor the
 * file says it, so that OpenAI's names tell.
 */
export function hiddenReasoningOf(
  { provider }: ServedTarget,
  reasons: boolean | null,
  { chat }: UpstreamTraits,
): HiddenReasoning {
  if (provider.kind === 'demo') return 'never';
  return (reasons ?? (chat.efforts ?? []).length > 0) ? provider.quirks.hiddenReasoning : 'never';
}

/** The public name of the model that is cheapest (by output) at `nowMs` over the protocol; those without a price come last. */
export function suggestModel(routes: RouteTable, protocol: Protocol, nowMs: number): string | null {
  const speaking = [...routes].filter(([, route]) => route.protocols.includes(protocol));
  const priced = speaking.map(([name, route]) => ({ name, price: priceAt(route.prices, nowMs) }));
  return priced.sort(byPrice)[0]?.name ?? null;
}

function byPrice({ price: one }: { price: Price | null }, { price: other }: { price: Price | null }): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return Number(one.output - other.output);
}
