/** Renders a valid request for each route of the console API: the names in its path, its query. */
import type { ConsoleRoute } from '../../src/console-api/contract/contract.ts';
import { rowOf } from '../../src/console-api/contract/contract.ts';

/** Values of the placeholders in paths. */
export type Names = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;

/** Returns method, path and query of a route. Throws if a name of its path has no value. */
export function askOf(route: ConsoleRoute, names: Names): string {
  const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = names[name];
    if (value === undefined) throw new Error(`${route}: no value for {${name}}`);
    return encodeURIComponent(value);
  });
  const query = queryOf(route, names.request ?? 'req_none');
  return query === '' ? path : `${path}?${query}`;
}

/** The required members of the route's query. `request`: the id of a recorded request, of the session `run-1`. */
function queryOf(route: ConsoleRoute, request: string): string {
  const schema = rowOf(route).query;
  if (schema === undefined) return '';
  const known: Names = {
    from: new Date(Date.now() - DAY_MS).toISOString(),
    to: new Date(Date.now() + DAY_MS).toISOString(),
    model: 'ok',
    other_model: 'ok',
    patterns: '*',
    keys: 'key_none',
    session: 'run-1',
    request,
    previous: request,
  };
  const given: Record<string, string> = {};
  for (;;) {
    const outcome = schema.safeParse(given);
    if (outcome.success) return new URLSearchParams(given).toString();
    const member = String(outcome.error.issues[0]?.path[0]);
    const value = known[member];
    if (value === undefined || member in given) throw new Error(`${route}: no value for ${member} of its query`);
    given[member] = value;
  }
}
