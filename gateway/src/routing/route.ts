/** Owns the table from public model names to who answers them, at what price. Built at start and at each reload. */
import { type ConfigPrice, FREE_PRICE, type Price, parseConfigPrice } from '../billing/price.ts';
import type { Protocol } from '../config/config.ts';
import type { CatalogName, ServedModel, ServedTarget } from '../config/served-models.ts';
import { buildUpstream, type Upstream } from '../providers/upstream.ts';

/** What the table needs to know of the catalogue: the price of a model at a host; null: it knows none. */
export type FindPrice = (catalogProvider: string, model: string) => Price | null;

/** Who answers a model. Calls go to the first upstream. */
export interface Route {
  /** The name that the operator gave, and every other public name. */
  readonly model: string;
  readonly names: readonly string[];
  readonly protocols: readonly Protocol[];
  readonly upstream: Upstream;
  /** By what name the catalogue knows the model; null: it does not. */
  readonly catalog: CatalogName | null;
  /** Null: nobody knows it; the record says so. */
  readonly price: Price | null;
}

export type RouteTable = ReadonlyMap<string, Route>;

/** Every public name, aliases too, with its route. */
export function buildRouteTable(models: ReadonlyMap<string, ServedModel>, findPrice: FindPrice): RouteTable {
  const built = new Map<ServedModel, Route>();
  const table = new Map<string, Route>();
  for (const [name, model] of models) {
    const route = built.get(model) ?? buildRoute(model, findPrice);
    built.set(model, route);
    table.set(name, route);
  }
  return table;
}

function buildRoute(model: ServedModel, findPrice: FindPrice): Route {
  const [target] = model.targets;
  return {
    model: model.name,
    names: [model.name, ...model.alias],
    protocols: model.protocols,
    upstream: buildUpstream(target),
    catalog: target.catalog,
    price: model.price === null ? targetPrice(target, findPrice) : parseConfigPrice(model.price satisfies ConfigPrice),
  };
}

function targetPrice(target: ServedTarget, findPrice: FindPrice): Price | null {
  if (target.provider.kind === 'demo') return FREE_PRICE;
  return target.catalog === null ? null : findPrice(target.catalog.provider, target.catalog.model);
}
