/** Lists the status and the words of each failure in OpenAI's two formats, and words its message. Contract, 5. */
import type { CallFailure, TokenCounts } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';

/** Of an error body. */
export type ErrorWords = readonly [status: number, type: string, code: string];

const INVALID = 'invalid_request_error';
const FORBIDDEN: ErrorWords = [403, 'permission_error', 'forbidden'];
const RATE_LIMITED: ErrorWords = [429, 'rate_limit_error', 'rate_limit_exceeded'];
const FAULT: ErrorWords = [500, 'api_error', 'internal_error'];
const UNAVAILABLE: ErrorWords = [503, 'api_error', 'internal_error'];
/** Clients shorten the prompt and retry on this code. Wire reference C.6. */
const OVER_CONTEXT: ErrorWords = [400, INVALID, 'context_length_exceeded'];
const invalid = (status: number): ErrorWords => [status, INVALID, INVALID];

export const ERROR_WORDS: { readonly [kind in FailureKind]: ErrorWords } = {
  invalid_request: invalid(400),
  unauthorized: [401, 'authentication_error', 'unauthorized'],
  model_unknown: FORBIDDEN,
  model_forbidden: FORBIDDEN,
  model_wrong_protocol: invalid(400),
  address_forbidden: FORBIDDEN,
  scope_forbidden: FORBIDDEN,
  not_found: invalid(404),
  method_not_allowed: invalid(405),
  body_timeout: invalid(408),
  body_too_large: invalid(413),
  url_too_long: invalid(414),
  encoding_unsupported: invalid(415),
  headers_too_large: invalid(431),
  idempotency_reused: invalid(400),
  idempotency_running: invalid(409),
  idempotency_lost: invalid(409),
  not_supported: [501, 'api_error', 'internal_error'],
  client_left: [499, INVALID, 'client_closed'],
  upstream_rejected: invalid(400),
  context_overflow: OVER_CONTEXT,
  output_over_context: OVER_CONTEXT,
  upstream_rate_limited: RATE_LIMITED,
  upstream_overloaded: FAULT,
  targets_full: UNAVAILABLE,
  upstream_timeout: FAULT,
  upstream_failed: FAULT,
  upstream_credential: FAULT,
  upstream_misconfigured: FAULT,
  upstream_malformed: FAULT,
  upstream_truncated: FAULT,
  rate_limited: RATE_LIMITED,
  rate_out_of_reach: RATE_LIMITED,
  unpriced: FAULT,
  quota_exceeded: [429, 'insufficient_quota', 'rate_limit_exceeded'],
  guardrail_blocked: [400, INVALID, 'guardrail_blocked'],
  guardrail_unavailable: UNAVAILABLE,
  reader_too_slow: invalid(408),
  gateway_fault: FAULT,
  draining: UNAVAILABLE,
  over_capacity: UNAVAILABLE,
  store_unavailable: UNAVAILABLE,
};

/** The failure's message; with the request id for support if the fault is not the caller's (5xx). */
export function describeFailure(failure: CallFailure, requestId: string, status: number): string {
  const { tokens } = failure.details;
  const words = tokens === undefined ? failure.message : overContext(tokens);
  return status >= 500 ? `${words} (request id ${requestId})` : words;
}

/**
 * Contains "maximum context length", which LangChain (1.6, November 2026) and others search for; the counts are where
 * OpenAI puts them, for clients that parse them. Wire reference C.6 and E.5.
 */
function overContext({ prompt, output, max }: TokenCounts): string {
  if (max === null) {
    const found = prompt === null ? '' : `: your messages resulted in ${prompt} tokens`;
    return `The maximum context length of this model is exceeded${found}. Please reduce the length of the messages.`;
  }
  const limit = `This model's maximum context length is ${max} tokens.`;
  if (prompt === null) return `${limit} Please reduce the length of the messages.`;
  if (output === null || prompt >= max) {
    return `${limit} However, your messages resulted in ${prompt} tokens. Please reduce the length of the messages.`;
  }
  return (
    `${limit} However, you requested ${prompt + output} tokens (${prompt} in the messages, ${output} in the completion). ` +
    'Please reduce the length of the messages or completion.'
  );
}
