/**
 * Routes one HTTP request: runs the checks common to all routes, finds the route, and sends the last-resort error
 * reply.
 */

import { ANTHROPIC_BATCHES, createBatch, OPENAI_BATCHES } from '../call/batches/create-batch.ts';
import type { CallOrigin } from '../call/call.ts';
import { countCall } from '../call/count-call.ts';
import { NO_SNIFF } from '../call/deliver/reply.ts';
import type { CallDeps } from '../call/deps.ts';
import { handleCall } from '../call/handle-call.ts';
import { answerObject } from '../call/objects/answer-object.ts';
import { answerStoredResponse } from '../call/stored/stored-response.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { type IpRange, parseIpAddress, rangeHolds } from '../lib/ip-range.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { CLIENTS } from '../protocols/registry.ts';
import type { Collection } from '../protocols/stored/shared-state.ts';
import type { ConsoleServer } from './console-files.ts';
import { callGemini, GEMINI_BASES, isFromGoogleClient, listGeminiModels, showGeminiModel } from './gemini-paths.ts';
import { type ReadKeyLimitStatus, showKey } from './key-endpoint.ts';
import { type RenderMetrics, showMetrics } from './metrics-endpoint.ts';
import { type DescribeModel, listModels, showModel } from './models-endpoint.ts';
import { renderOpenapi } from './openapi/openapi-document.ts';
import { notFound, replyFailure, replyJson, replyRenderedJson } from './reply-json.ts';

/** The dependencies of the routes. */
export interface ServerDeps {
  readonly deps: CallDeps;
  readonly describe: DescribeModel;
  readonly readKeyStanding: ReadKeyLimitStatus;
  readonly console: ConsoleServer;
  readonly renderMetrics: RenderMetrics;
}

/** The client's side of any request. */
export interface Origin extends CallOrigin {
  /** Whether the request arrived over https, here or, as it reports, at a trusted proxy. */
  isHttps(): boolean;
  /** The address of the connection itself; null if it is closed. */
  peer(): string | null;
  /** Makes a WebSocket of the connection, or throws CallFailure. */
  upgrade(): void;
}

/** Answers any request. Undefined: its connection is a WebSocket now. */
export function answerRequest(
  request: Request,
  origin: Origin,
  parts: ServerDeps,
): Response | Promise<Response> | undefined {
  const { deps } = parts;
  const start = pathStart(request.url);
  const path = pathOf(request.url, start);
  try {
    checkEnvelope(request, start, deps);
    const match = matchRoute(path);
    if (match === null) throw notFound(path);
    if (!match.row.methods.includes(request.method)) {
      if (!asksForSocket(request)) throw wrongMethod(match.row.methods, request);
      if (!SOCKET_PATHS.has(path)) throw noSocket(match);
      origin.upgrade();
      return undefined;
    }
    const answer = match.row.answer(request, origin, parts, match.rest);
    if (answer instanceof Promise) return match.row.isCall ? answer : readyOnceAnswered(answer, origin);
    origin.replyReady();
    return answer;
  } catch (error) {
    origin.replyReady();
    if (error instanceof CallFailure) {
      if (error.kind === 'unauthorized') {
        deps.unknownCallers += 1;
        deps.observer.turnedAway(error.kind);
      }
      return replyFailure(error, path, request.headers);
    }
    deps.log.fault('', 'a request failed', error);
    return replyFailure(
      new CallFailure('gateway_fault', 'the gateway failed; this is not your fault'),
      path,
      request.headers,
    );
  }
}

/** A call reports itself when its reply is ready, because the reply may be a stream. */
async function readyOnceAnswered(answer: Promise<Response>, origin: Origin): Promise<Response> {
  try {
    return await answer;
  } finally {
    origin.replyReady();
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

/** Many proxies remove only `upgrade`. */
function asksForSocket({ method, headers }: Request): boolean {
  const asks = headers.get('upgrade')?.toLowerCase() === 'websocket' || headers.has('sec-websocket-key');
  return asks && method === 'GET';
}

/** Clients fall back to POST at once only on a 426. */
function noSocket({ row }: RouteMatch): CallFailure {
  const allow = row.methods.join(', ');
  const details = { status: 426, allow, closeConnection: true } as const;
  return new CallFailure('method_not_allowed', `there is no WebSocket at this path; use ${allow}`, details);
}

function wrongMethod(methods: readonly string[], { method }: Request): CallFailure {
  const allow = methods.join(', ');
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
  const host = request.headers.get('host');
  if (host?.includes(',') === true) {
    throw new CallFailure('invalid_request', 'the host header was sent twice', { closeConnection: true });
  }
  // The runtime puts every valid host before the path (1.4.5).
  if (start === 0 && host !== null && host !== '') {
    throw new CallFailure('invalid_request', 'the host header is not a host', { closeConnection: true });
  }
}

function countHeaders(headers: Headers): number {
  return (headers as Headers & { readonly count: number }).count;
}

/** The start of the path; the end of the text if the request line had none. HTTP/1.0 may name no host, then it is all. */
function pathStart(url: string): number {
  if (url.startsWith('/')) return 0;
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? url.length : start;
}

/** The path without query; works for any request line. */
function pathOf(url: string, start: number): string {
  const query = url.indexOf('?', start);
  const path = query === -1 ? url.slice(start) : url.slice(start, query);
  const hash = path.indexOf('#');
  return (hash === -1 ? path : path.slice(0, hash)) || '/';
}

/**
 * `peer` is the connection's address. If it is a trusted proxy, `x-forwarded-for` is read from the right, and the first
 * address that is not a trusted proxy is the client's; an entry that is not an address ends the search (null: unknown).
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trustedProxies: readonly IpRange[],
): string | null {
  if (trustedProxies.length === 0 || forwardedFor === null || !isTrusted(peer, trustedProxies)) return peer;
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()));
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = hops[index] ?? '';
    if (parseIpAddress(hop) === null) return null;
    if (index === 0 || !isTrusted(hop, trustedProxies)) return hop;
  }
  return peer;
}

/** Some proxies add the port of the client: `192.0.2.7:50123`, `[2001:db8::7]:50123`. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^(?:\[([\da-fA-F:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  return v6 ?? v4 ?? hop;
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

interface RouteRow {
  readonly methods: readonly string[];
  /** Exact paths; for a row `below` its paths and a slash precede `rest`. */
  readonly paths: readonly string[];
  readonly below: boolean;
  /** A call reports itself when its reply is ready. */
  readonly isCall: boolean;
  /** `rest`: the rest of the path, percent-decoded; empty: none. May throw CallFailure. */
  answer(request: Request, origin: Origin, parts: ServerDeps, rest: string): Response | Promise<Response>;
}

/** A base URL with or without `/v1`, or with it twice, works for both SDK families. */
function aliases(path: string): string[] {
  return [`/v1${path}`, path, `/v1/v1${path}`];
}

type Answer = RouteRow['answer'];

const call = (path: string, answer: Answer): RouteRow => ({
  methods: ['POST'],
  paths: aliases(path),
  below: false,
  isCall: true,
  answer,
});
const page = (methods: string[], paths: string[], answer: Answer): RouteRow => ({
  methods,
  paths,
  below: false,
  isCall: false,
  answer,
});
const below = (methods: string[], paths: string[], answer: Answer): RouteRow => ({
  ...page(methods, paths, answer),
  below: true,
});

const SOCKET_PATHS = new Set(aliases('/responses'));
const geminiPaths = (path: string): string[] => GEMINI_BASES.map((base) => `${base}${path}`);
/** The paths of single models: what they are, and Gemini's methods. */
const modelPaths = (paths: string[], show: Answer): RouteRow => ({
  ...below(['GET', 'POST'], paths, (request, origin, parts, rest) => {
    if (request.method === 'GET') return show(request, origin, parts, rest);
    if (rest.includes(':')) return callGemini(request, rest, origin, parts.deps);
    throw wrongMethod(['GET'], request);
  }),
  isCall: true,
});

/** The paths of objects that clients create at providers. `batches`: the format of the requests that create those. */
const objectPaths = (collection: Collection, path: string = `/${collection}`, batches?: ClientProtocol): RouteRow[] => {
  const paths = aliases(path);
  const answer: Answer = (request, origin, { deps }, rest) =>
    batches !== undefined && rest === '' && request.method === 'POST'
      ? createBatch(request, origin, deps, batches)
      : answerObject(request, origin, deps, collection, rest, batches);
  return [page(['GET', 'POST'], paths, answer), below(['GET', 'POST', 'DELETE'], paths, answer)].map((row) => ({
    ...row,
    isCall: true,
  }));
};

const READ = ['GET', 'HEAD'];
const CONSOLE_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const consoleApi: Answer = (request, origin, { deps, console }, rest) => {
  if (!deps.settings.config.server.console) throw notFound(`/app/api/${rest}`);
  return console.api.fetch(request, origin.address(), origin.isHttps());
};
const consolePage = (path: string): Answer => {
  return (request, _origin, { deps, console }, rest) => {
    if (!deps.settings.config.server.console) throw notFound(`${path}${rest}`);
    return console.showPage(`${path}${rest}`, request);
  };
};
const home: Answer = ({ method }, _origin, { deps }) => {
  if (method === 'HEAD' || !deps.settings.config.server.console) return replyJson({ service: 'tollgate' });
  return new Response(null, { status: 302, headers: { location: '/app', ...NO_SNIFF } });
};
const openapi: Answer = async ({ url }, _origin, { deps }) => {
  const { publicUrl, console } = deps.settings.config.server;
  return replyRenderedJson(await renderOpenapi(publicUrl ?? url.slice(0, pathStart(url)), console));
};

const ROUTES: readonly RouteRow[] = [
  ...CLIENTS.flatMap((protocol) =>
    protocol.endpoints.map(({ path, countOnly }) => {
      const handle = countOnly ? countCall : handleCall;
      return call(path, (request, origin, { deps }) => handle(request, protocol, origin, deps));
    }),
  ),
  page(['GET'], aliases('/models'), (request, origin, { deps, describe }) => {
    const list = isFromGoogleClient(request.headers) ? listGeminiModels : listModels;
    return list(request, origin, deps, describe);
  }),
  page(['GET'], geminiPaths('/models'), (request, origin, { deps, describe }) =>
    listGeminiModels(request, origin, deps, describe),
  ),
  modelPaths(aliases('/models'), (request, origin, { deps, describe }, id) => {
    const show = isFromGoogleClient(request.headers) ? showGeminiModel : showModel;
    return show(request, id, origin, deps, describe);
  }),
  modelPaths(geminiPaths('/models'), (request, origin, { deps, describe }, id) =>
    showGeminiModel(request, id, origin, deps, describe),
  ),
  {
    ...below(['POST'], geminiPaths('/tunedModels'), (request, origin, { deps }, rest) =>
      callGemini(request, `tunedModels/${rest}`, origin, deps),
    ),
    isCall: true,
  },
  below(['GET', 'POST', 'DELETE'], aliases('/responses'), (request, origin, { deps }, rest) =>
    answerStoredResponse(request, origin, deps, rest),
  ),
  ...objectPaths('files'),
  ...objectPaths('conversations'),
  ...objectPaths('batches', '/batches', OPENAI_BATCHES),
  ...objectPaths('batches', '/messages/batches', ANTHROPIC_BATCHES),
  page(['GET'], aliases('/key'), (request, origin, { deps, readKeyStanding }) =>
    showKey(request, origin, deps, readKeyStanding),
  ),
  page(READ, ['/healthz'], () => replyJson({ status: 'ok' })),
  page(READ, ['/readyz'], (_request, _origin, { deps }) => readiness(deps)),
  page(READ, ['/metrics'], (request, origin, { deps, renderMetrics }) =>
    showMetrics(request, origin, deps, renderMetrics),
  ),
  page(READ, ['/openapi.json'], openapi),
  page(READ, ['/'], home),
  page(['HEAD', 'GET'], ['/api/hello'], () => new Response(null, { status: 200, headers: NO_SNIFF })),
  below(CONSOLE_METHODS, ['/app/api'], consoleApi),
  // Not a page of the console: a script that lost the rest of its path gets a JSON error.
  page(CONSOLE_METHODS, ['/app/api', '/app/api/'], consoleApi),
  page(READ, ['/app', '/app/'], consolePage('/app/')),
  below(READ, ['/app'], consolePage('/app/')),
  page(READ, ['/status'], consolePage('/status')),
  page(READ, ['/docs', '/docs/'], consolePage('/docs')),
  below(READ, ['/docs'], consolePage('/docs/')),
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
