/**
 * Authenticates, authorizes and validates a request below `/app/api`, dispatches it to its handler and renders the
 * reply. Also checks for cross-site requests and reads JSON bodies. Serves only the routes in the contract's table.
 */

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Hono } from 'hono';
import type { z } from 'zod';
import { ArrivingBody, BODY_TIME_LIMITS, type BodyTimeLimits } from '../../call/request/read-body.ts';
import { wordIssue } from '../../config/file/schema-words.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { ConsoleFailure, failureResponse, type MemberFault } from '../../errors/console-failure.ts';
import { acceptsEncoding } from '../../lib/accepts-encoding.ts';
import { queryOf } from '../../lib/query/url-query.ts';
import { isOfWholeAccount, OPERATOR_ACCOUNT } from '../../people/roles.ts';
import type { Arrival } from '../../people/sign-in/auth-cookies.ts';
import { CONSOLE_ROUTES, type ConsoleRoute, rowOf } from '../contract/contract.ts';
import type { RouteRow } from '../contract/row.ts';
import { type Actor, requireWholeAccount, type Tenancy, tenancyOf } from './actor.ts';
import { type ConsoleCall, type CsvFile, csvResponse, type Handlers, type Redirect } from './handlers.ts';

export interface ConsoleApiParts {
  readonly handlers: Handlers;
  /**
   * The actor of a request: from its session cookie or the key in `authorization`. Throws ConsoleFailure for an invalid
   * key.
   */
  identify(arrival: Arrival): Promise<Actor>;
  hasAccount(account: string): boolean;
  /** The gateway's public address; null or absent: taken from each request. */
  publicUrl?(): string | null;
  /** How long receiving a body may take; absent: the defaults. */
  bodyTimes?(): BodyTimeLimits;
  /** Reports an internal error to the operator. */
  onFault(route: string, cause: unknown): void;
}

export interface ConsoleApi {
  /**
   * `request.url` contains the path below `/app/api`. Always resolves with a response. `isForwardedHttps`: a trusted
   * proxy reports that the request came over https.
   */
  fetch(request: Request, address: string | null, isForwardedHttps?: boolean): Promise<Response>;
}

const BODY_BYTES_MAX = 256 * 1024;
/** Maximum bytes of an unauthenticated request's body. */
const STRANGER_BODY_BYTES_MAX = 4 * 1024;
const PREFIX = '/app/api';

/** Sent with every response: no caching, framing or content-type sniffing. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** The general type of a handler, used to call any route. */
type AnyHandler = (call: ConsoleCall<ConsoleRoute>) => Promise<unknown>;
interface Environment {
  readonly Bindings: { readonly address: string | null; readonly isForwardedHttps: boolean };
}

/** Builds the API from its handlers. */
export function createConsoleApi(parts: ConsoleApiParts): ConsoleApi {
  const app = new Hono<Environment>().basePath(PREFIX);
  for (const route of Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]) {
    const [method, path] = splitRoute(route);
    const handler = parts.handlers[route] as AnyHandler;
    app.on(method, path.replace(/\{(\w+)\}/g, ':$1'), (context) =>
      answer(parts, { route, row: rowOf(route), handler }, context.req.raw, context.env, context.req.param()),
    );
  }
  app.notFound(() => {
    throw new ConsoleFailure(
      'not_found',
      'there is no such path in the console API; GET /openapi.json lists all paths',
    );
  });
  app.onError((fault) => {
    if (fault instanceof ConsoleFailure) return withHeaders(failureResponse(fault));
    parts.onFault('', fault);
    return withHeaders(failureResponse(OWN_FAULT));
  });
  return {
    fetch: async (request, address, isForwardedHttps = false) => app.fetch(request, { address, isForwardedHttps }),
  };
}

const OWN_FAULT = new ConsoleFailure(
  'gateway_fault',
  'the gateway failed; this is not your fault. The log has the reason',
);

/** Splits a route into method and path. */
export function splitRoute(route: ConsoleRoute): readonly [method: string, path: string] {
  const space = route.indexOf(' ');
  return [route.slice(0, space), route.slice(space + 1)];
}

interface Matched {
  readonly route: ConsoleRoute;
  readonly row: RouteRow;
  readonly handler: AnyHandler;
}

async function answer(
  parts: ConsoleApiParts,
  { route, row, handler }: Matched,
  request: Request,
  { address, isForwardedHttps }: Environment['Bindings'],
  path: Record<string, string>,
): Promise<Response> {
  const outgoing = new Headers(HEADERS);
  try {
    const arrival = { headers: request.headers, address, isForwardedHttps };
    let actor = await parts.identify(arrival);
    if (actor.kind !== 'key') checkSameOrigin(request, parts.publicUrl?.() ?? null);
    let tenancy = authorize(parts, row, actor, path.account ?? null);
    const query = readQuery(row, request);
    const body = await readBody(row, request, actor, { limits: parts.bodyTimes?.() ?? BODY_TIME_LIMITS, address });
    if (row.body !== undefined && row.access !== 'anyone') {
      // The sender chooses how long a body takes: rights that ended meanwhile must not be used.
      actor = await parts.identify(arrival);
      tenancy = authorize(parts, row, actor, path.account ?? null);
    }
    const call = {
      request,
      address,
      arrival,
      actor,
      get tenancy(): Tenancy {
        if (tenancy === null) throw new Error(`${route} asks for rights in an account and names none`);
        return tenancy;
      },
      path,
      query,
      body,
      outgoing,
    };
    // The schemas validated these members; their types are lost because all routes share this code.
    const result = await handler(call as unknown as ConsoleCall<ConsoleRoute>);
    if (row.reply === 'csv') return csvResponse(result as CsvFile, outgoing, (cause) => parts.onFault(route, cause));
    if (row.reply === 'redirect') return redirectResponse(result as Redirect, outgoing);
    return await jsonReply(result, request, outgoing);
  } catch (fault) {
    if (fault instanceof ConsoleFailure) return withHeaders(failureResponse(fault), outgoing);
    parts.onFault(route, fault);
    return withHeaders(failureResponse(OWN_FAULT), outgoing);
  }
}

function redirectResponse({ location }: Redirect, outgoing: Headers): Response {
  outgoing.set('location', location);
  return new Response(null, { status: 303, headers: outgoing });
}

/** The actor's rights that the route needs; null: the route needs none in an account. */
function authorize(
  { hasAccount }: Pick<ConsoleApiParts, 'hasAccount'>,
  row: RouteRow,
  actor: Actor,
  account: string | null,
): Tenancy | null {
  if (row.access === 'anyone') return null;
  if (actor.kind === 'anonymous') throw new ConsoleFailure('signed_out', 'sign in first', { page: '/app/sign-in' });
  if (row.peopleOnly === true || row.access === 'person') requirePerson(actor);
  if (row.access === 'person') return null;
  const tenancy = tenancyOf(actor, account ?? OPERATOR_ACCOUNT);
  // Operators have rights in any account, whether or not it exists.
  if (tenancy === null || !hasAccount(tenancy.account))
    throw new ConsoleFailure('not_found', 'there is no such account, or you have no access to it');
  if (!tenancy.may(row.access)) {
    if (actor.kind === 'person' && isOfWholeAccount(row.access)) requireWholeAccount(tenancy);
    throw new ConsoleFailure(
      'forbidden',
      `you lack the permission ${row.access}; ask an owner or admin of the account`,
      { page: '/app/members' },
    );
  }
  if (row.wholeAccount === true) requireWholeAccount(tenancy);
  return tenancy;
}

function requirePerson(actor: Actor): void {
  if (actor.kind !== 'person')
    throw new ConsoleFailure('forbidden', 'this needs a signed-in user; an API key cannot do it');
}

function readQuery(row: RouteRow, request: Request): unknown {
  if (row.query === undefined) return undefined;
  const given = Object.fromEntries(queryOf(request));
  return parsed(row.query, given);
}

async function readBody(row: RouteRow, request: Request, actor: Actor, arrival: BodyArrival): Promise<unknown> {
  if (row.body === undefined) return undefined;
  const bytesMax = row.bodyBytesMax ?? (actor.kind === 'anonymous' ? STRANGER_BODY_BYTES_MAX : BODY_BYTES_MAX);
  return parsed(row.body, await readJsonBody(request, bytesMax, arrival));
}

function parsed(schema: z.ZodObject, given: unknown): unknown {
  const outcome = schema.safeParse(given, { error: wordIssue });
  if (outcome.success) return outcome.data;
  const faults = memberFaults(outcome.error);
  const [{ member, message } = { member: '', message: 'the request: is not valid' }] = faults;
  throw new ConsoleFailure('invalid', message, { member, ...(faults.length > 1 ? { faults } : {}) });
}

/** The first fault of each member, in order. */
function memberFaults({ issues }: z.ZodError): readonly MemberFault[] {
  const faults = new Map<string, MemberFault>();
  for (const { path, message } of issues) {
    const member = path.map(String).join('.');
    if (faults.has(member)) continue;
    faults.set(member, { member, message: `${member === '' ? 'the request' : member}: ${message}` });
  }
  return [...faults.values()];
}

function withHeaders(response: Response, outgoing: Headers = new Headers(HEADERS)): Response {
  for (const [name, value] of outgoing) response.headers.append(name, value);
  return response;
}

/** Smaller replies fit in one packet uncompressed. */
const PACKED_FROM_BYTES = 1_024;

/** Compresses on another thread, so that no call waits for it. */
const pack = promisify(gzip);

export async function jsonReply(result: unknown, request: Request, headers: Headers): Promise<Response> {
  if (request.method !== 'GET') return Response.json(result, { headers });
  headers.append('vary', 'accept-encoding');
  const plain = Response.json(result, { headers });
  if (!acceptsEncoding(request.headers.get('accept-encoding'), 'gzip')) return plain;
  const bytes = await plain.arrayBuffer();
  if (bytes.byteLength < PACKED_FROM_BYTES) return new Response(bytes, { headers: plain.headers });
  const packedHeaders = new Headers(plain.headers);
  packedHeaders.set('content-encoding', 'gzip');
  return new Response(await pack(bytes), { headers: packedHeaders });
}

const READS = new Set(['GET', 'HEAD']);

/**
 * Throws `cross_site` for a modifying request that does not come from a page of this server. Browsers send
 * `sec-fetch-site` with every request; old ones send at least `origin`. `publicUrl`: the public address behind a proxy
 * that uses another host name for the gateway.
 */
export function checkSameOrigin(request: Request, publicUrl: string | null): void {
  if (READS.has(request.method)) return;
  const site = request.headers.get('sec-fetch-site');
  const origin = request.headers.get('origin');
  const isOwn = site === 'same-origin' || (site === null && origin !== null);
  const host = origin === null ? null : hostOf(origin);
  if (isOwn && (origin === null || host === request.headers.get('host') || isAt(origin, publicUrl))) return;
  throw new ConsoleFailure('cross_site', 'this request did not come from a page of this console; reload the page');
}

function hostOf(origin: string): string | null {
  try {
    return new URL(origin).host;
  } catch {
    return null;
  }
}

function isAt(origin: string, publicUrl: string | null): boolean {
  return publicUrl !== null && origin === new URL(publicUrl).origin;
}

/** How long the body may take, and the address of the sender. */
interface BodyArrival {
  readonly limits: BodyTimeLimits;
  readonly address: string | null;
}

/** The parsed body. Throws `not_json`, `too_large`, `body_timeout`, `over_capacity` or `invalid`. */
async function readJsonBody(request: Request, bytesMax: number, arrival: BodyArrival): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    throw new ConsoleFailure(
      'not_json',
      `found the content type ${JSON.stringify(type.slice(0, 100))}, expected application/json`,
    );
  }
  const text = await readText(request, bytesMax, arrival);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ConsoleFailure('invalid', 'the body is not valid JSON', { cause });
  }
}

async function readText({ body }: Request, bytesMax: number, { limits, address }: BodyArrival): Promise<string> {
  if (body === null) return '';
  try {
    const bytes = await new ArrivingBody(limits, { address: () => address }).gather(body, (byteCount) => {
      if (byteCount <= bytesMax) return;
      throw new ConsoleFailure('too_large', `the body is larger than ${bytesMax} bytes`, { closeConnection: true });
    });
    return bytes.toString('utf8');
  } catch (fault) {
    if (!(fault instanceof CallFailure)) throw fault;
    const kind = fault.kind === 'body_timeout' ? 'body_timeout' : 'over_capacity';
    const { retryAfterSeconds } = fault.details;
    throw new ConsoleFailure(kind, fault.message, {
      closeConnection: true,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
}
