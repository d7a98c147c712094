/**
 * Lists every failure a call can have. Its status and words are in each format's `client/render-error.ts`. Source:
 * contract, section 5.
 */

/** The party at fault. A fault of ours or of a dependency is never shown as 401, 403 or 429. */
export type Origin = 'caller' | 'gateway' | 'upstream';

interface Row {
  readonly origin: Origin;
  /** `x-should-retry`; null leaves the decision to the client's own rule for the status. */
  readonly shouldRetry: boolean | null;
}

const CALLER: Row = { origin: 'caller', shouldRetry: null };
const CALLER_FINAL: Row = { origin: 'caller', shouldRetry: false };
const GATEWAY: Row = { origin: 'gateway', shouldRetry: null };
const GATEWAY_FINAL: Row = { origin: 'gateway', shouldRetry: false };
const UPSTREAM: Row = { origin: 'upstream', shouldRetry: null };

export const FAILURE_KINDS = {
  invalid_request: CALLER,
  unauthorized: CALLER_FINAL,
  model_unknown: CALLER_FINAL,
  model_forbidden: CALLER_FINAL,
  model_wrong_protocol: CALLER_FINAL,
  address_forbidden: CALLER_FINAL,
  scope_forbidden: CALLER_FINAL,
  not_found: CALLER,
  method_not_allowed: CALLER,
  body_timeout: CALLER,
  body_too_large: CALLER,
  url_too_long: CALLER,
  encoding_unsupported: CALLER,
  headers_too_large: CALLER,
  idempotency_reused: CALLER,
  idempotency_running: CALLER,
  /** The result stored under this idempotency key can neither be returned nor repeated. */
  idempotency_lost: GATEWAY_FINAL,
  not_supported: GATEWAY_FINAL,
  client_left: CALLER,
  upstream_rejected: CALLER,
  /** The prompt alone is longer than the model's context. */
  context_overflow: CALLER,
  /** The prompt fits, but not together with the requested output. */
  output_over_context: CALLER,
  upstream_rate_limited: UPSTREAM,
  upstream_overloaded: UPSTREAM,
  /** No attempt was made: each target of the model has as many requests as the operator allows it. */
  targets_full: UPSTREAM,
  upstream_timeout: UPSTREAM,
  upstream_failed: UPSTREAM,
  upstream_credential: UPSTREAM,
  /** The upstream does not know the model, the deployment or the address that the operator configured. */
  upstream_misconfigured: UPSTREAM,
  upstream_malformed: UPSTREAM,
  upstream_truncated: UPSTREAM,
  /**
   * One of the caller's own limits: requests, tokens or concurrent calls. `retryAfterSeconds` is when the call would
   * pass.
   */
  rate_limited: CALLER,
  /** As `rate_limited`, if waiting a minute does not help. Wire reference 0.6. */
  rate_out_of_reach: CALLER_FINAL,
  /** If a balance or a budget pays, a model without a price would be free. */
  unpriced: GATEWAY_FINAL,
  /** A budget or a balance. */
  quota_exceeded: CALLER_FINAL,
  /** A guardrail of the workspace blocks the request or the answer, or cannot check it. */
  guardrail_blocked: CALLER_FINAL,
  /** A guardrail does not work at the moment. */
  guardrail_unavailable: GATEWAY,
  reader_too_slow: CALLER,
  gateway_fault: GATEWAY,
  draining: GATEWAY,
  over_capacity: GATEWAY,
  store_unavailable: GATEWAY,
} satisfies Record<string, Row>;

export type FailureKind = keyof typeof FAILURE_KINDS;
