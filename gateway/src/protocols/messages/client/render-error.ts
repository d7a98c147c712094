/**
 * Renders failed calls in the messages format: error bodies, the in-band error, and the keep-alive record. Contract, 5
 * and 6.
 */
import type { CallFailure, TokenCounts } from '../../../errors/call-failure.ts';
import type { FailureKind } from '../../../errors/failure-kinds.ts';

type Words = readonly [status: number, type: string];

const INVALID = 'invalid_request_error';
const FORBIDDEN: Words = [403, 'permission_error'];
const NOT_FOUND: Words = [404, 'not_found_error'];
const RATE_LIMITED: Words = [429, 'rate_limit_error'];
const FAULT: Words = [500, 'api_error'];
const UNAVAILABLE: Words = [503, 'api_error'];

const WORDS: { readonly [kind in FailureKind]: Words } = {
  invalid_request: [400, INVALID],
  unauthorized: [401, 'authentication_error'],
  model_unknown: NOT_FOUND,
  model_forbidden: FORBIDDEN,
  model_wrong_protocol: NOT_FOUND,
  address_forbidden: FORBIDDEN,
  scope_forbidden: FORBIDDEN,
  not_found: NOT_FOUND,
  method_not_allowed: [405, INVALID],
  body_timeout: [408, INVALID],
  body_too_large: [413, 'request_too_large'],
  url_too_long: [414, INVALID],
  encoding_unsupported: [415, INVALID],
  headers_too_large: [431, INVALID],
  idempotency_reused: [400, INVALID],
  idempotency_running: [409, INVALID],
  idempotency_lost: [409, INVALID],
  not_supported: [501, 'not_supported'],
  client_left: [499, INVALID],
  upstream_rejected: [400, INVALID],
  context_overflow: [400, INVALID],
  output_over_context: [400, INVALID],
  upstream_rate_limited: RATE_LIMITED,
  upstream_overloaded: [529, 'overloaded_error'],
  targets_full: UNAVAILABLE,
  upstream_timeout: [504, 'timeout_error'],
  upstream_failed: FAULT,
  upstream_credential: FAULT,
  upstream_misconfigured: FAULT,
  upstream_malformed: FAULT,
  upstream_truncated: FAULT,
  rate_limited: RATE_LIMITED,
  rate_out_of_reach: RATE_LIMITED,
  unpriced: FAULT,
  quota_exceeded: [429, 'billing_error'],
  guardrail_blocked: [400, INVALID],
  guardrail_unavailable: UNAVAILABLE,
  reader_too_slow: [408, INVALID],
  gateway_fault: FAULT,
  draining: UNAVAILABLE,
  over_capacity: UNAVAILABLE,
  store_unavailable: UNAVAILABLE,
};

/** The HTTP status of a failure: upstream's, if it is passed on. */
export function statusOf({ kind, details }: CallFailure): number {
  return details.status ?? WORDS[kind][0];
}

/** Allowed at any time after the headers; SDKs ignore it. */
export const KEEP_ALIVE = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');

/** Error types for upstream statuses that are kept although the upstream body is not. Contract, 5. */
const TYPES_OF_STATUS: ReadonlyMap<number, string> = new Map([
  [404, 'not_found_error'],
  [413, 'request_too_large'],
]);

/**
 * Added to the refusal of `thread`: the tool runner of Anthropic's SDK (1.11), which requests a thread by default,
 * recognizes it and continues without one.
 */
const THREADLESS = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/** `{"type":"error","error":{"type","message"},"request_id"}`; the message of a 5xx repeats the request id. */
export function renderError(failure: CallFailure, requestId: string): string {
  const upstreamStatus = failure.details.status;
  const type = (upstreamStatus === undefined ? null : TYPES_OF_STATUS.get(upstreamStatus)) ?? WORDS[failure.kind][1];
  const { tokens, param, hint } = failure.details;
  const words = tokens === undefined ? failure.message : overContext(tokens);
  const repeated = statusOf(failure) >= 500 ? ` (request id ${requestId})` : '';
  return JSON.stringify({
    type: 'error',
    error: { type, message: `${words}${repeated}`, details: param === 'thread' ? THREADLESS : undefined, hint },
    request_id: requestId,
  });
}

/** The last record of a failed stream; never followed by `message_stop`. */
export function renderStreamError(failure: CallFailure, requestId: string): Buffer {
  return Buffer.from(`event: error\ndata: ${renderError(failure, requestId)}\n\n`);
}

/**
 * The wording by which Claude Code (2.1.329) detects that it must compact the conversation or request a shorter
 * response, and from which it reads the numbers. Wire reference C.6.
 */
function overContext({ prompt, output, max }: TokenCounts): string {
  if (prompt === null || max === null) {
    const limit = max === null ? 'more tokens than this model takes' : `more tokens than the maximum of ${max}`;
    return `prompt is too long: ${limit}`;
  }
  if (prompt > max) return `prompt is too long: ${prompt} tokens > ${max} maximum`;
  if (output === null || prompt === max) {
    return `prompt is too long: ${prompt} tokens leave no room for an answer within the maximum of ${max}`;
  }
  const sum = `${prompt} + ${output} > ${max}`;
  return `input length and \`max_tokens\` exceed context limit: ${sum}, decrease input length or \`max_tokens\` and try again`;
}
