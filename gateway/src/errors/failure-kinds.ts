/**
 * Lists every failure a call can have, and its meaning in both protocols.
 * Source: contract, section 5 (statuses and error bodies). Renders nothing; `protocols/<name>/vocabulary` does.
 */

/** The party at fault. A fault of ours or of a dependency is never shown as 401, 403 or 429. */
export type Origin = 'caller' | 'gateway' | 'upstream';

interface Row {
  readonly chat: { readonly status: number; readonly type: string; readonly code: string };
  readonly messages: { readonly status: number; readonly type: string };
  readonly origin: Origin;
  /** `x-should-retry`; null leaves the decision to the client's own rule for the status. */
  readonly shouldRetry: boolean | null;
}

const INVALID = 'invalid_request_error';

function row(
  origin: Origin,
  chat: readonly [status: number, type: string, code: string],
  messages: readonly [status: number, type: string],
  shouldRetry: boolean | null = null,
): Row {
  return {
    chat: { status: chat[0], type: chat[1], code: chat[2] },
    messages: { status: messages[0], type: messages[1] },
    origin,
    shouldRetry,
  };
}

function refusedRequest(status: number, messagesType = INVALID): Row {
  return row('caller', [status, INVALID, INVALID], [status, messagesType]);
}

/** This code and these words make clients shorten the prompt and retry. Wire reference C.6. */
const OVER_CONTEXT = row('caller', [400, INVALID, 'context_length_exceeded'], [400, INVALID]);
const FORBIDDEN = row('caller', [403, 'permission_error', 'forbidden'], [403, 'permission_error'], false);
const UNAVAILABLE = row('gateway', [503, 'api_error', 'internal_error'], [503, 'api_error']);
const RATE_LIMITED = row('caller', [429, 'rate_limit_error', 'rate_limit_exceeded'], [429, 'rate_limit_error']);
const UPSTREAM_FAULT = row('upstream', [500, 'api_error', 'internal_error'], [500, 'api_error']);

export const FAILURE_KINDS = {
  invalid_request: refusedRequest(400),
  unauthorized: row('caller', [401, 'authentication_error', 'unauthorized'], [401, 'authentication_error'], false),
  model_unknown: row('caller', [403, 'permission_error', 'forbidden'], [404, 'not_found_error'], false),
  model_forbidden: FORBIDDEN,
  model_wrong_protocol: row('caller', [400, INVALID, INVALID], [404, 'not_found_error'], false),
  address_forbidden: FORBIDDEN,
  scope_forbidden: FORBIDDEN,
  not_found: refusedRequest(404, 'not_found_error'),
  method_not_allowed: refusedRequest(405),
  body_timeout: refusedRequest(408),
  body_too_large: refusedRequest(413, 'request_too_large'),
  url_too_long: refusedRequest(414),
  encoding_unsupported: refusedRequest(415),
  headers_too_large: refusedRequest(431),
  idempotency_reused: refusedRequest(400),
  idempotency_running: refusedRequest(409),
  /** The result stored under this idempotency key can neither be returned nor repeated. */
  idempotency_lost: row('gateway', [409, INVALID, INVALID], [409, INVALID], false),
  not_supported: row('gateway', [501, 'api_error', 'internal_error'], [501, 'not_supported'], false),
  client_left: row('caller', [499, INVALID, 'client_closed'], [499, INVALID]),
  upstream_rejected: refusedRequest(400),
  /** The prompt alone is longer than the model's context. */
  context_overflow: OVER_CONTEXT,
  /** The prompt fits, but not together with the requested output. */
  output_over_context: OVER_CONTEXT,
  upstream_rate_limited: row('upstream', [429, 'rate_limit_error', 'rate_limit_exceeded'], [429, 'rate_limit_error']),
  upstream_overloaded: row('upstream', [500, 'api_error', 'internal_error'], [529, 'overloaded_error']),
  upstream_timeout: row('upstream', [500, 'api_error', 'internal_error'], [504, 'timeout_error']),
  upstream_failed: UPSTREAM_FAULT,
  upstream_credential: UPSTREAM_FAULT,
  /** The upstream does not know the model, the deployment or the address that the operator configured. */
  upstream_misconfigured: UPSTREAM_FAULT,
  upstream_malformed: UPSTREAM_FAULT,
  upstream_truncated: UPSTREAM_FAULT,
  /**
   * One of the caller's own limits: requests, tokens or concurrent calls. `retryAfterSeconds` is when the call would
   * pass.
   */
  rate_limited: RATE_LIMITED,
  /** As `rate_limited`, if waiting a minute does not help. Wire reference 0.6. */
  rate_out_of_reach: { ...RATE_LIMITED, shouldRetry: false },
  /** If a balance or a budget pays, a model without a price would be free. */
  unpriced: row('gateway', [500, 'api_error', 'internal_error'], [500, 'api_error'], false),
  /** A budget or a balance. */
  quota_exceeded: row('caller', [429, 'insufficient_quota', 'rate_limit_exceeded'], [429, 'billing_error'], false),
  reader_too_slow: row('caller', [408, INVALID, INVALID], [408, INVALID]),
  gateway_fault: row('gateway', [500, 'api_error', 'internal_error'], [500, 'api_error']),
  draining: UNAVAILABLE,
  over_capacity: UNAVAILABLE,
  store_unavailable: UNAVAILABLE,
} satisfies Record<string, Row>;

export type FailureKind = keyof typeof FAILURE_KINDS;
