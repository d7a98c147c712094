/** Owns which model a newcomer is shown first: one that costs little to try. */
import type { Protocol } from '../config/config.ts';
import type { Route, RouteTable } from './route.ts';

/** The public name of the cheapest model (by output) that is served over the protocol; those without a price come last. */
export function suggestModel(routes: RouteTable, protocol: Protocol): string | null {
  const speaking = [...routes].filter(([, route]) => route.protocols.includes(protocol));
  return speaking.sort(byPrice)[0]?.[0] ?? null;
}

function byPrice([, one]: readonly [string, Route], [, other]: readonly [string, Route]): number {
  if (one.price === null || other.price === null) return Number(one.price === null) - Number(other.price === null);
  return Number(one.price.output - other.price.output);
}
