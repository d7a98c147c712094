/**
 * Renders failed calls as Google's errors: bodies, and the record that ends a failed stream. Gemini CLI decides by the
 * status and the details whether it asks again. Specification of other endpoints, 4.2; contract, 5.
 */
import type { CallFailure, TokenCounts } from '../../../errors/call-failure.ts';
import type { FailureKind } from '../../../errors/failure-kinds.ts';
import type { JsonObject } from '../../json.ts';
import { RECORD_END } from './render-stream.ts';

type Words = readonly [code: number, status: string];

const INVALID = 'INVALID_ARGUMENT';
const FORBIDDEN: Words = [403, 'PERMISSION_DENIED'];
const NOT_FOUND: Words = [404, 'NOT_FOUND'];
const EXHAUSTED: Words = [429, 'RESOURCE_EXHAUSTED'];
const FAULT: Words = [500, 'INTERNAL'];
const UNAVAILABLE: Words = [503, 'UNAVAILABLE'];

const WORDS: { readonly [kind in FailureKind]: Words } = {
  invalid_request: [400, INVALID],
  unauthorized: [401, 'UNAUTHENTICATED'],
  model_unknown: NOT_FOUND,
  model_forbidden: FORBIDDEN,
  model_wrong_protocol: NOT_FOUND,
  address_forbidden: FORBIDDEN,
  scope_forbidden: FORBIDDEN,
  not_found: NOT_FOUND,
  method_not_allowed: [405, INVALID],
  body_timeout: [408, INVALID],
  body_too_large: [413, INVALID],
  url_too_long: [414, INVALID],
  encoding_unsupported: [415, INVALID],
  headers_too_large: [431, INVALID],
  idempotency_reused: [400, INVALID],
  idempotency_running: [409, 'ABORTED'],
  idempotency_lost: [409, 'ABORTED'],
  not_supported: [501, 'UNIMPLEMENTED'],
  client_left: [499, 'CANCELLED'],
  upstream_rejected: [400, INVALID],
  context_overflow: [400, INVALID],
  output_over_context: [400, INVALID],
  upstream_rate_limited: EXHAUSTED,
  upstream_overloaded: UNAVAILABLE,
  targets_full: UNAVAILABLE,
  upstream_timeout: [504, 'DEADLINE_EXCEEDED'],
  upstream_failed: FAULT,
  upstream_credential: FAULT,
  upstream_misconfigured: FAULT,
  upstream_malformed: FAULT,
  upstream_truncated: FAULT,
  rate_limited: EXHAUSTED,
  rate_out_of_reach: EXHAUSTED,
  unpriced: FAULT,
  quota_exceeded: EXHAUSTED,
  guardrail_blocked: [400, INVALID],
  guardrail_unavailable: UNAVAILABLE,
  reader_too_slow: [408, INVALID],
  gateway_fault: FAULT,
  draining: UNAVAILABLE,
  over_capacity: UNAVAILABLE,
  store_unavailable: UNAVAILABLE,
};

/** The words of statuses that a failure brings with it: upstream's, and the one on which an agent ends. */
const STATUS_WORDS: ReadonlyMap<number, string> = new Map([
  [402, 'FAILED_PRECONDITION'],
  [404, 'NOT_FOUND'],
]);

/** The HTTP status of a failure: upstream's, if it is passed on. */
export function statusOf({ kind, details }: CallFailure): number {
  return details.status ?? WORDS[kind][0];
}

/** Empty lines: some clients take every other line for JSON (google-genai for Python, read 2026-11-23). */
export const KEEP_ALIVE = Buffer.from('\r\n');

/** `{"error":{"code","message","status","details"}}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  return bodyOf(failure, requestId, statusOf(failure));
}

/** The last record of a failed stream. Gemini CLI asks again after it, as after a stream without a finish reason. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`data: ${bodyOf(failure, requestId, statusOf(failure))}${RECORD_END}`);
}

function bodyOf(failure: CallFailure, requestId: string, code: number): string {
  const [, ownStatus] = WORDS[failure.kind];
  const { tokens } = failure.details;
  const own = isSpent(failure) ? failure.message + NOTHING_LEFT : failure.message;
  const words = tokens === undefined ? own : overContext(tokens);
  const message = code >= 500 ? `${words} (request id ${requestId})` : words;
  const details = detailsOf(failure);
  const status = code === failure.details.status ? (STATUS_WORDS.get(code) ?? ownStatus) : ownStatus;
  return JSON.stringify({
    error: { code, message, status, ...(details.length > 0 && { details }), hint: failure.details.hint },
  });
}

const TYPE = 'type.googleapis.com/google.rpc.';

/** When to ask again, which Gemini CLI reads here only; or what is used up, where waiting does not help. */
function detailsOf(failure: CallFailure): JsonObject[] {
  const { message, details } = failure;
  const { retryAfterSeconds, param } = details;
  if (isSpent(failure)) return [{ '@type': `${TYPE}QuotaFailure`, violations: [{ description: message }] }];
  if (retryAfterSeconds !== undefined) return [{ '@type': `${TYPE}RetryInfo`, retryDelay: `${retryAfterSeconds}s` }];
  if (param === undefined) return [];
  return [{ '@type': `${TYPE}BadRequest`, fieldViolations: [{ field: param, description: message }] }];
}

/** By Google's words "limit: 0" Gemini CLI ends the turn, with the message; for other quotas it asks again (0.61.0). */
const NOTHING_LEFT = ' (left of the limit: 0)';

/** Waiting a minute does not help. */
function isSpent({ kind }: CallFailure): boolean {
  return kind === 'quota_exceeded' || kind === 'rate_out_of_reach';
}

/** Google's words, from which clients read the numbers. */
function overContext({ prompt, max }: TokenCounts): string {
  const found = prompt === null ? '' : ` (${prompt})`;
  const limit = max === null ? '' : ` (${max})`;
  return `The input token count${found} exceeds the maximum number of tokens allowed${limit}.`;
}
