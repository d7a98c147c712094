/** Owns the way of one HTTP request to its route: the checks that hold for all, the look-up, the reply of last resort. */
import { CallFailure } from '../errors/call-failure.ts';
import type { Gate } from '../gateway/gate.ts';
import { handleCall } from '../gateway/handle-call.ts';
import { NO_SNIFF } from '../gateway/reply.ts';
import { chatCompletions } from '../protocols/chat-completions/index.ts';
import { messages } from '../protocols/messages/index.ts';
import { clientAddress, isForwardedHttps } from './client-address.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ConsoleDesk } from './console-desk.ts';
import { showKey } from './key-endpoint.ts';
import type { ReadKeyStanding } from './key-standing.ts';
import { type DescribeModel, listModels, showModel } from './models-endpoint.ts';
import { openapiText } from './openapi/openapi-document.ts';
import { notFound, replyFailure, replyJson, replyJsonText } from './reply-json.ts';
import { matchRoute, type RouteMatch } from './routes.ts';

/** What requests are answered with. */
export interface Desk {
  readonly gate: Gate;
  readonly describe: DescribeModel;
  readonly readKeyStanding: ReadKeyStanding;
  readonly console: ConsoleDesk;
}

/** Where a request came from, looked up only where it matters. */
interface Origin {
  readonly connection: ClientConnection;
  address(): string | null;
  /** Whether a trusted proxy says that it came by https. */
  isHttps(): boolean;
}

/** Answers any request, whatever it is. */
export function answerRequest(
  request: Request,
  connection: ClientConnection,
  desk: Desk,
): Response | Promise<Response> {
  const { gate } = desk;
  const start = pathStart(request.url);
  const path = pathOf(request.url, start);
  try {
    checkEnvelope(request, start, gate);
    const match = matchRoute(path);
    if (match === null) throw notFound(path);
    if (!match.row.methods.includes(request.method)) throw wrongMethod(match, request.method);
    const address = () =>
      clientAddress(
        connection.address(),
        request.headers.get('x-forwarded-for'),
        gate.settings.config.server.trustedProxies,
      );
    const isHttps = () =>
      isForwardedHttps(
        connection.address(),
        request.headers.get('x-forwarded-proto'),
        gate.settings.config.server.trustedProxies,
      );
    const answer = answerRoute(match, request, { connection, address, isHttps }, desk);
    if (answer instanceof Promise) return match.row.isCall ? answer : readyOnceAnswered(answer, connection);
    connection.replyReady();
    return answer;
  } catch (error) {
    connection.replyReady();
    if (error instanceof CallFailure) return replyFailure(error, path, request.headers);
    gate.log.fault('', 'a request could not be answered', error);
    return replyFailure(
      new CallFailure('gateway_fault', 'the gateway failed; this is not your fault'),
      path,
      request.headers,
    );
  }
}

/** A call says itself when its reply is ready: it may be a stream. */
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
  desk: Desk,
): Response | Promise<Response> {
  const { gate, describe, readKeyStanding } = desk;
  const { config } = gate.settings;
  switch (match.row.name) {
    case 'chat':
      return handleCall({ request, protocol: chatCompletions, countOnly: false, address, connection }, gate);
    case 'messages':
      return handleCall({ request, protocol: messages, countOnly: false, address, connection }, gate);
    case 'count-tokens':
      return handleCall({ request, protocol: messages, countOnly: true, address, connection }, gate);
    case 'models':
      return listModels(request, address, gate, describe);
    case 'model':
      return showModel(request, match.rest, address, gate, describe);
    case 'key':
      return showKey(request, address, gate, readKeyStanding);
    case 'healthz':
      return replyJson({ status: 'ok' });
    case 'readyz':
      return readiness(gate);
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
      return desk.console.api.fetch(request, address(), isHttps());
    case 'console':
      if (!config.server.console) throw notFound(`/app/${match.rest}`);
      return desk.console.showPage(`/app/${match.rest}`, request);
    case 'status':
      if (!config.server.console) throw notFound('/status');
      return desk.console.showPage('/status', request);
  }
}

function readiness(gate: Gate): Response {
  const problems = [
    ...(gate.ready ? [] : ['draining']),
    ...(gate.recorder.writable() ? [] : ['the call records cannot be written']),
  ];
  return replyJson(
    { status: problems.length === 0 ? 'ready' : 'not ready', problems },
    problems.length === 0 ? 200 : 503,
  );
}

function wrongMethod({ row }: RouteMatch, method: string): CallFailure {
  const allow = row.methods.join(', ');
  return new CallFailure('method_not_allowed', `${method.slice(0, 20)} is not a method of this path; use ${allow}`, {
    allow,
  });
}

/** Bounds on the request line and header lines. The runtime bounds the whole header block before this. */
function checkEnvelope(request: Request, start: number, gate: Gate): void {
  const { urlBytesMax, headerCountMax } = gate.settings.config.limits;
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

/** Where the path begins; the end of the text where the request line held none. */
function pathStart(url: string): number {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? url.length : start;
}

/** Path without query; works for whatever the request line held. */
function pathOf(url: string, start: number): string {
  const end = url.slice(start).search(/[?#]/);
  return (end === -1 ? url.slice(start) : url.slice(start, start + end)) || '/';
}
