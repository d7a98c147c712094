/**
 * Routes one HTTP request: runs the checks common to all routes, finds the route, and sends the last-resort error
 * reply.
 */

import type { CallConnection } from '../call/call.ts';
import { NO_SNIFF } from '../call/deliver/reply.ts';
import type { CallDeps } from '../call/deps.ts';
import { handleCall } from '../call/handle-call.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { type IpRange, parseIpAddress, rangeHolds } from '../lib/ip-range.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import type { ConsoleServer } from './console-files.ts';
import { type ReadKeyLimitStatus, showKey } from './key-endpoint.ts';
import { type DescribeModel, listModels, showModel } from './models-endpoint.ts';
import { openapiText } from './openapi/openapi-document.ts';
import { notFound, replyFailure, replyJson, replyJsonText } from './reply-json.ts';

/** The dependencies of the routes. */
export interface ServerDeps {
  readonly deps: CallDeps;
  readonly describe: DescribeModel;
  readonly readKeyStanding: ReadKeyLimitStatus;
  readonly console: ConsoleServer;
}

/** One request's connection. */
export interface ClientConnection extends CallConnection {
  /** The peer's address; null if the connection is closed. */
  address(): string | null;
}

/** The origin of a request, resolved only when needed. */
interface Origin {
  readonly connection: ClientConnection;
  address(): string | null;
  /** Whether a trusted proxy reports that the request arrived over https. */
  isHttps(): boolean;
}

/** Answers any request. */
export function answerRequest(
  request: Request,
  connection: ClientConnection,
  parts: ServerDeps,
): Response | Promise<Response> {
  const { deps } = parts;
  const start = pathStart(request.url);
  const path = pathOf(request.url, start);
  try {
    checkEnvelope(request, start, deps);
    const match = matchRoute(path);
    if (match === null) throw notFound(path);
    if (!match.row.methods.includes(request.method)) throw wrongMethod(match, request.method);
    const address = () =>
      clientAddress(
        connection.address(),
        request.headers.get('x-forwarded-for'),
        deps.settings.config.server.trustedProxies,
      );
    const isHttps = () =>
      isForwardedHttps(
        connection.address(),
        request.headers.get('x-forwarded-proto'),
        deps.settings.config.server.trustedProxies,
      );
    const answer = answerRoute(match, request, { connection, address, isHttps }, parts);
    if (answer instanceof Promise)
      return typeof match.row.name === 'object' ? answer : readyOnceAnswered(answer, connection);
    connection.replyReady();
    return answer;
  } catch (error) {
    connection.replyReady();
    if (error instanceof CallFailure) return replyFailure(error, path, request.headers);
    deps.log.fault('', 'a request failed', error);
    return replyFailure(
      new CallFailure('gateway_fault', 'the gateway failed; this is not your fault'),
      path,
      request.headers,
    );
  }
}

/** A call reports itself when its reply is ready, because the reply may be a stream. */
async function readyOnceAnswered(answer: Promise<Response>, connection: ClientConnection): Promise<Response> {
  try {
    return await answer;
  } finally {
    connection.replyReady();
  }
}

function answerRoute(
  match: RouteMatch,
  request: Request,
  { connection, address, isHttps }: Origin,
  parts: ServerDeps,
): Response | Promise<Response> {
  const { deps, describe, readKeyStanding } = parts;
  const { config } = deps.settings;
  const { name } = match.row;
  if (typeof name === 'object') return handleCall({ request, ...name, address, connection }, deps);
  switch (name) {
    case 'models':
      return listModels(request, address, deps, describe);
    case 'model':
      return showModel(request, match.rest, address, deps, describe);
    case 'key':
      return showKey(request, address, deps, readKeyStanding);
    case 'healthz':
      return replyJson({ status: 'ok' });
    case 'readyz':
      return readiness(deps);
    case 'openapi':
      return replyJsonText(
        openapiText(config.server.publicUrl ?? request.url.slice(0, pathStart(request.url)), config.server.console),
      );
    case 'hello':
      return new Response(null, { status: 200, headers: NO_SNIFF });
    case 'root':
      if (request.method === 'HEAD' || !config.server.console) return replyJson({ service: 'tollgate' });
      return new Response(null, { status: 302, headers: { location: '/app', ...NO_SNIFF } });
    case 'console-api':
      if (!config.server.console) throw notFound(`/app/api/${match.rest}`);
      return parts.console.api.fetch(request, address(), isHttps());
    case 'console':
      if (!config.server.console) throw notFound(`/app/${match.rest}`);
      return parts.console.showPage(`/app/${match.rest}`, request);
    case 'status':
      if (!config.server.console) throw notFound('/status');
      return parts.console.showPage('/status', request);
  }
}

function readiness(deps: CallDeps): Response {
  const problems = [
    ...(deps.ready ? [] : ['draining']),
    ...(deps.recorder.writable() ? [] : ['request records cannot be written']),
  ];
  return replyJson(
    { status: problems.length === 0 ? 'ready' : 'not ready', problems },
    problems.length === 0 ? 200 : 503,
  );
}

function wrongMethod({ row }: RouteMatch, method: string): CallFailure {
  const allow = row.methods.join(', ');
  return new CallFailure('method_not_allowed', `${method.slice(0, 20)} is not allowed for this path; use ${allow}`, {
    allow,
  });
}

/** Limits the request line and header lines. The runtime limits the whole header block before this. */
function checkEnvelope(request: Request, start: number, deps: CallDeps): void {
  const { urlBytesMax, headerCountMax } = deps.settings.config.limits;
  if (request.url.length - start > urlBytesMax) {
    throw new CallFailure('url_too_long', `path and query are longer than ${urlBytesMax} bytes`, {
      closeConnection: true,
    });
  }
  if (countHeaders(request.headers) > headerCountMax) {
    throw new CallFailure('headers_too_large', `more than ${headerCountMax} headers`, { closeConnection: true });
  }
  if (request.headers.get('host')?.includes(',') === true) {
    throw new CallFailure('invalid_request', 'the host header was sent twice', { closeConnection: true });
  }
}

function countHeaders(headers: Headers): number {
  return (headers as Headers & { readonly count: number }).count;
}

/** The start of the path; the end of the text if the request line had none. */
function pathStart(url: string): number {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? url.length : start;
}

/** The path without query; works for any request line. */
function pathOf(url: string, start: number): string {
  const end = url.slice(start).search(/[?#]/);
  return (end === -1 ? url.slice(start) : url.slice(start, start + end)) || '/';
}

/**
 * `peer` is the connection's address. If it is a trusted proxy, `x-forwarded-for` is read from the right, and the first
 * address that is not a trusted proxy is the client's; an entry that is not an address ends the search (null: unknown).
 */
function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trustedProxies: readonly IpRange[],
): string | null {
  if (trustedProxies.length === 0 || forwardedFor === null || !isTrusted(peer, trustedProxies)) return peer;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = hops[index] ?? '';
    if (parseIpAddress(hop) === null) return null;
    if (index === 0 || !isTrusted(hop, trustedProxies)) return hop;
  }
  return peer;
}

/**
 * Whether a trusted proxy reports that the request reached it over https. `forwardedProto`: `x-forwarded-proto`, the
 * first hop first.
 */
export function isForwardedHttps(
  peer: string | null,
  forwardedProto: string | null,
  trustedProxies: readonly IpRange[],
): boolean {
  if (forwardedProto === null || !isTrusted(peer, trustedProxies)) return false;
  return forwardedProto.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

function isTrusted(address: string | null, trustedProxies: readonly IpRange[]): boolean {
  const parsed = address === null ? null : parseIpAddress(address);
  return parsed !== null && trustedProxies.some((range) => rangeHolds(range, parsed));
}

type RouteName =
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

interface CallRoute {
  readonly protocol: ClientProtocol;
  readonly countOnly: boolean;
}

interface RouteRow {
  /** The name of a route, or the calls that the call pipeline answers. */
  readonly name: RouteName | CallRoute;
  readonly methods: readonly string[];
  /** Exact paths; for `model` and `console` the id or the page follows the slash. */
  readonly paths: readonly string[];
  readonly below: boolean;
}

/** A base URL with or without `/v1`, or with it twice, works for both SDK families. */
function aliases(path: string): string[] {
  return [`/v1${path}`, path, `/v1/v1${path}`];
}

const row = (name: RouteRow['name'], methods: string[], paths: string[], below = false): RouteRow => ({
  name,
  methods,
  paths,
  below,
});

const CONSOLE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const ROUTES: readonly RouteRow[] = [
  ...Object.values(CLIENT_PROTOCOLS).flatMap((protocol) =>
    protocol.endpoints.map(({ path, countOnly }) => row({ protocol, countOnly }, ['POST'], aliases(path))),
  ),
  row('models', ['GET'], aliases('/models')),
  row('model', ['GET'], aliases('/models'), true),
  row('key', ['GET'], aliases('/key')),
  row('healthz', ['GET', 'HEAD'], ['/healthz']),
  row('readyz', ['GET', 'HEAD'], ['/readyz']),
  row('openapi', ['GET', 'HEAD'], ['/openapi.json']),
  row('root', ['GET', 'HEAD'], ['/']),
  row('hello', ['HEAD', 'GET'], ['/api/hello']),
  row('console-api', CONSOLE_METHODS, ['/app/api'], true),
  // Not a page of the console: a script that lost the rest of its path gets a JSON error.
  row('console-api', CONSOLE_METHODS, ['/app/api', '/app/api/']),
  row('console', ['GET', 'HEAD'], ['/app', '/app/']),
  row('console', ['GET', 'HEAD'], ['/app'], true),
  row('status', ['GET', 'HEAD'], ['/status']),
];

/** A row, and the rest of the path (percent-decoded; empty: none). */
interface RouteMatch {
  readonly row: RouteRow;
  readonly rest: string;
}

const exact = new Map<string, RouteMatch>();
for (const route of ROUTES) {
  if (!route.below) for (const path of route.paths) exact.set(path, { row: route, rest: '' });
}

/** The row of a path, for any method; null: no route. */
function matchRoute(path: string): RouteMatch | null {
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
