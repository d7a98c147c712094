/** Owns the table of routes: which path and method goes where. The server answers nothing else. */

export type RouteName =
  | 'chat'
  | 'messages'
  | 'count-tokens'
  | 'models'
  | 'model'
  | 'key'
  | 'healthz'
  | 'readyz'
  | 'openapi'
  | 'root'
  | 'hello'
  | 'console-api'
  | 'console'
  | 'status';

export interface RouteRow {
  readonly name: RouteName;
  readonly methods: readonly string[];
  /** Exact paths; for `model` and `console` what follows the slash is the id or the page. */
  readonly paths: readonly string[];
  readonly below: boolean;
  /** The line of a call answers it. */
  readonly isCall: boolean;
}

/** A base URL given with or without `/v1`, or with it twice, works for both SDK families. */
function aliases(path: string): string[] {
  return [`/v1${path}`, path, `/v1/v1${path}`];
}

const CALLS: ReadonlySet<RouteName> = new Set(['chat', 'messages', 'count-tokens']);

const row = (name: RouteName, methods: string[], paths: string[], below = false): RouteRow => ({
  name,
  methods,
  paths,
  below,
  isCall: CALLS.has(name),
});

const CONSOLE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const ROUTES: readonly RouteRow[] = [
  row('chat', ['POST'], aliases('/chat/completions')),
  row('messages', ['POST'], aliases('/messages')),
  row('count-tokens', ['POST'], aliases('/messages/count_tokens')),
  row('models', ['GET'], aliases('/models')),
  row('model', ['GET'], aliases('/models'), true),
  row('key', ['GET'], aliases('/key')),
  row('healthz', ['GET', 'HEAD'], ['/healthz']),
  row('readyz', ['GET', 'HEAD'], ['/readyz']),
  row('openapi', ['GET', 'HEAD'], ['/openapi.json']),
  row('root', ['GET', 'HEAD'], ['/']),
  row('hello', ['HEAD', 'GET'], ['/api/hello']),
  row('console-api', CONSOLE_METHODS, ['/app/api'], true),
  // Not a page of the console: a script that lost the rest of its path is told so in JSON.
  row('console-api', CONSOLE_METHODS, ['/app/api', '/app/api/']),
  row('console', ['GET', 'HEAD'], ['/app', '/app/']),
  row('console', ['GET', 'HEAD'], ['/app'], true),
  row('status', ['GET', 'HEAD'], ['/status']),
];

/** A row, and what stands below its path (percent-decoded; empty: nothing). */
export interface RouteMatch {
  readonly row: RouteRow;
  readonly rest: string;
}

const exact = new Map<string, RouteMatch>();
for (const route of ROUTES) {
  if (!route.below) for (const path of route.paths) exact.set(path, { row: route, rest: '' });
}

/** The row of a path, whatever the method; null: there is nothing. */
export function matchRoute(path: string): RouteMatch | null {
  const found = exact.get(path);
  if (found !== undefined) return found;
  for (const route of ROUTES) {
    if (!route.below) continue;
    for (const prefix of route.paths) {
      if (path.startsWith(`${prefix}/`) && path.length > prefix.length + 1) {
        const rest = decode(path.slice(prefix.length + 1));
        return rest === null ? null : { row: route, rest };
      }
    }
  }
  return null;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
