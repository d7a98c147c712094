/** Adapts a route to members that its upstream refused recently, before the request is planned and paid for. */
import type { Route } from '../../routing/route.ts';
import { traitsWithout } from './omit-members.ts';
import type { RefusedMembers } from './refused-members.ts';

/** Returns the same object if nothing was refused. */
export function adaptRoute(route: Route, workspace: string, nowMs: number, refused: RefusedMembers): Route {
  const refuses = refused.of(route.upstream, workspace, nowMs);
  if (refuses.length === 0) return route;
  return { ...route, refuses, traits: refuses.reduce(traitsWithout, route.traits) };
}
