/** Renders the headers, those of limits included, and bodies of replies to callers. Contract, 5, 6 and 8. */

import type { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';
import { steadyNowMs } from '../../lib/deadlines.ts';
import { maskKeys } from '../../lib/secret.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { RateLimitStatus } from '../../store/ports/limits.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import type { Arrived } from '../call.ts';
import { stopWords } from './agent-stops.ts';

/** Upstream headers that a caller may see; all others describe the operator's account or the connection. */
const UPSTREAM_HEADERS = ['openai-processing-ms', 'openai-version'];

/** On every reply of every route. */
export const NO_SNIFF = { 'x-content-type-options': 'nosniff' } as const;

/**
 * Headers of every reply of the gateway: the same id under the names of both SDK families, and no content sniffing in
 * browsers.
 */
export function baseHeaders(requestId: string): Record<string, string> {
  return { 'x-request-id': requestId, 'request-id': requestId, ...NO_SNIFF };
}

/**
 * A name chosen by the operator as a header value: percent-encodes non-ASCII characters, which a header cannot hold.
 */
function headerText(name: string): string {
  return encodeURI(name.toWellFormed());
}

const NO_ROUTE = new Headers(NO_SNIFF);
/**
 * The headers that the first attempts' answers of an upstream share, by the reason for the route: copying them costs less
 * than building them for each answer.
 */
const headersOfUpstreams = new WeakMap<Upstream, Map<string | null, Headers>>();

function sharedHeaders(upstream: Upstream, why: string | null): Headers {
  let byWhy = headersOfUpstreams.get(upstream);
  if (byWhy === undefined) {
    byWhy = new Map();
    headersOfUpstreams.set(upstream, byWhy);
  }
  let headers = byWhy.get(why);
  if (headers === undefined) {
    headers = new Headers({
      ...NO_SNIFF,
      'x-tollgate-provider': headerText(upstream.provider),
      'x-tollgate-model': headerText(upstream.model),
      'x-tollgate-attempts': '1',
      ...(why === null ? {} : { 'x-tollgate-route': why === 'pin_cooling' ? 'fallback' : why }),
    });
    byWhy.set(why, headers);
  }
  return headers;
}

/** `isFinal`: no other target will answer. */
function routeHeaders(call: Arrived, isFinal = true): Headers {
  const isAttempted = isFinal && call.target !== null && call.attempted;
  const headers = new Headers(isAttempted ? sharedHeaders(call.target.upstream, call.why) : NO_ROUTE);
  headers.set('x-request-id', call.requestId);
  headers.set('request-id', call.requestId);
  if (isAttempted && call.attempts.length > 1) headers.set('x-tollgate-attempts', String(call.attempts.length));
  if (call.rateLimitStatus !== null) setLimitHeaders(headers, call.rateLimitStatus, call.protocol);
  if (call.cut) headers.set('x-tollgate-cut', 'insufficient_quota');
  if (call.cacheNote !== null) headers.set('x-tollgate-cache', call.cacheNote);
  if (isFinal && call.dropped.length > 0) headers.set('x-tollgate-dropped', droppedText(call.dropped));
  return headers;
}

/** The headers of a stored answer's reply: those of this call, then those stored with the answer (`stored`). */
export function storedAnswerHeaders(call: Arrived, stored: ReadonlyArray<readonly [string, string]>): Headers {
  const headers = routeHeaders(call);
  for (const [name, value] of stored) if (!OF_DELIVERY.has(name)) headers.set(name, value);
  if (!call.facts?.stream) headers.set('x-tollgate-cost-usd', '0');
  return headers;
}

/** Headers about the attempts of a call. */
const OF_DELIVERY = new Set(['x-tollgate-attempts', 'x-tollgate-route', 'x-tollgate-cut', 'x-tollgate-cost-usd']);

/** Clients limit the size of a response head, and a caller can send any number of unknown members. */
const DROPPED_CHARS_MAX = 2_000;

/**
 * The readable path of a member: `tools.0.strict`, `messages[].name`. Percent-encodes only characters that a header
 * cannot hold, and the comma that separates the names.
 */
function memberText(path: string): string {
  return path.toWellFormed().replace(/[^!-~]+|[%,]/gu, encodeURIComponent);
}

/** Comma-separated names; beyond the limit, the number of the remaining ones. */
function droppedText(dropped: readonly string[]): string {
  let text = '';
  for (const [index, name] of dropped.entries()) {
    const next = `${text}${text === '' ? '' : ','}${memberText(name)}`;
    if (next.length > DROPPED_CHARS_MAX) return `${text},and ${dropped.length - index} more`;
    text = next;
  }
  return text;
}

/**
 * A non-streamed answer. `head`: upstream's, if the bytes are upstream's own. `costUsd` is decimal, null if the call
 * has no price.
 */
export function plainReply(
  call: Arrived,
  head: Pick<ResponseHead, 'headers'>,
  body: Buffer | string,
  status: number,
  costUsd: string | null,
  isText = false,
): Response {
  const headers = routeHeaders(call);
  for (const name of UPSTREAM_HEADERS) {
    const value = headerOf(head, name);
    if (value !== null) headers.set(name, value);
  }
  // Only JSON and plain text are passed on in one piece, whatever content type upstream states.
  headers.set('content-type', isText ? 'text/plain; charset=utf-8' : 'application/json');
  if (costUsd !== null) headers.set('x-tollgate-cost-usd', costUsd);
  return new Response(body, { status, headers });
}

/** A streamed answer. `isFinal`: as for `streamHeaders`. */
export function streamReply(call: Arrived, body: ReadableStream | Buffer, isFinal = true): Response {
  return new Response(body, { headers: streamHeaders(call, isFinal) });
}

const EVENTS = 'text/event-stream; charset=utf-8';

/** The headers of a streamed answer; those about its target only if no other target will answer (`isFinal`). */
export function streamHeaders(call: Arrived, isFinal = true): Headers {
  const headers = routeHeaders(call, isFinal);
  headers.set('content-type', call.facts?.binary === undefined ? EVENTS : (call.answerType ?? call.facts.binary));
  headers.set('cache-control', 'no-cache, no-transform');
  headers.set('x-accel-buffering', 'no');
  return headers;
}

/** Our own token count of a request, for an upstream without a counter. */
export function countReply(call: Arrived, tokens: number): Response {
  const { countMember = 'input_tokens', countObject } = call.protocol;
  const count = countObject === undefined ? {} : { object: countObject };
  return Response.json({ ...count, [countMember]: tokens }, { headers: routeHeaders(call) });
}

/** A refusal or fault, rendered in the caller's protocol, or for the caller's agent. May quote the caller's input, but never a key. */
export function failureReply(
  failure: CallFailure,
  protocol: ClientProtocol,
  requestId: string,
  rateLimitStatus: RateLimitStatus | null = null,
  userAgent: string | null = null,
): Response {
  const headers = new Headers(failureHeaders(failure, requestId));
  if (rateLimitStatus !== null) setLimitHeaders(headers, rateLimitStatus, protocol);
  let body = protocol.renderError(failure, requestId);
  const stop = stopWords(userAgent, protocol.name, failure);
  if (stop !== null) {
    const told = JSON.parse(body);
    // OpenCode takes three digits anywhere in the body for a status, such as those of a request id. The headers have it.
    body = JSON.stringify({ ...told, request_id: undefined, error: { ...told.error, ...stop.error } });
    for (const [name, value] of Object.entries(stop.headers)) headers.set(name, maskKeys(value));
  }
  return new Response(maskKeys(body), { status: protocol.statusOf(failure), headers });
}

function failureHeaders(failure: CallFailure, requestId: string): Record<string, string> {
  const headers = baseHeaders(requestId);
  headers['content-type'] = 'application/json';
  const { shouldRetry } = FAILURE_KINDS[failure.kind];
  const { retryAfterSeconds, allow, closeConnection } = failure.details;
  if (shouldRetry !== null) headers['x-should-retry'] = String(shouldRetry);
  if (failure.kind === 'unauthorized') headers['www-authenticate'] = 'Bearer';
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (allow !== undefined) headers.allow = allow;
  if (closeConnection === true) headers.connection = 'close';
  return headers;
}

function setLimitHeaders(headers: Headers, rateLimitStatus: RateLimitStatus, protocol: ClientProtocol): void {
  if (rateLimitStatus.requests === null && rateLimitStatus.tokens === null) return;
  const limits = limitHeaders(rateLimitStatus, protocol, steadyNowMs(), Date.now());
  for (const [name, value] of Object.entries(limits)) headers.set(name, value);
}

/**
 * `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for chat,
 * `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}` for messages; none for requests or tokens without a
 * limit. A reset is when the full limit is available again. `nowMs` is the current time on the limits' own clock,
 * `shownMs` on the caller's.
 */
export function limitHeaders(
  rateLimitStatus: RateLimitStatus,
  { limitHeader, renderReset }: Pick<ClientProtocol, 'limitHeader' | 'renderReset'>,
  nowMs: number,
  shownMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const unit of ['requests', 'tokens'] as const) {
    const left = rateLimitStatus[unit];
    if (left === null) continue;
    headers[limitHeader(unit, 'limit')] = String(left.limit);
    headers[limitHeader(unit, 'remaining')] = String(left.remaining);
    headers[limitHeader(unit, 'reset')] = renderReset(left.resetMs - nowMs, shownMs);
  }
  return headers;
}
