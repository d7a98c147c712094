/** Owns which model a newcomer is shown first: one that costs little to try. */
import type { Price } from '../billing/price.ts';
import { priceAt } from '../billing/price-book.ts';
import type { Protocol } from '../config/config.ts';
import type { RouteTable } from './route.ts';

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
