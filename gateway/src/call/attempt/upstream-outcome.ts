/**
 * Maps an upstream's failure to the call's failure: transport fault, HTTP status, or an error in the stream. Contract,
 * 5.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { ReasonUpstream } from '../../errors/reason.ts';
import type { UpstreamError } from '../../protocols/answer/error-body.ts';
import {
  type AccountTrouble,
  type Overflow,
  readAccountTrouble,
  readOverflow,
} from '../../protocols/answer/error-body.ts';
import {
  headerOf,
  type ResponseHead,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from '../../upstream/connection.ts';

const TRANSPORT: { readonly [kind in UpstreamFailureKind]: readonly [FailureKind, string] } = {
  authorization: ['upstream_credential', "this gateway's credential for the model provider could not be used"],
  connect: ['upstream_failed', 'the model provider cannot be reached'],
  proxy: ['upstream_misconfigured', 'the proxy that leads to the model provider cannot be used'],
  tls: ['upstream_failed', 'no secure connection to the model provider could be made'],
  connect_timeout: ['upstream_timeout', 'the model provider did not accept a connection in time'],
  first_byte_timeout: ['upstream_timeout', 'the model provider did not begin to answer in time'],
  idle_timeout: ['upstream_timeout', 'the model provider fell silent in the middle of its answer'],
  total_timeout: ['upstream_timeout', 'the model provider did not finish within the time that a call may take'],
  reset: ['upstream_failed', 'the model provider closed the connection without an answer'],
  truncated: ['upstream_truncated', 'the model provider closed the connection before the end of its answer'],
  malformed: ['upstream_malformed', 'the model provider did not answer in HTTP/1.1'],
  too_large: ['upstream_malformed', 'the answer of the model provider is larger than this gateway takes'],
  fault: ['gateway_fault', 'the gateway failed; this is not your fault'],
  no_descriptor: ['over_capacity', 'the gateway has too many connections open; try again shortly'],
  aborted: ['upstream_failed', 'the call to the model provider was given up'],
};

/** A transport fault, below HTTP. */
export function failureOfTransport(failure: UpstreamFailure): CallFailure {
  const [kind, message] = TRANSPORT[failure.kind];
  const cause = failure.message;
  if (failure.kind === 'no_descriptor') return new CallFailure(kind, message, { cause, retryAfterSeconds: 1 });
  if (kind === 'gateway_fault') return new CallFailure(kind, message, { cause });
  return new CallFailure(kind, message, { cause, upstream: { status: null, type: failure.kind, message: cause } });
}

/** Upstream's credential and bill belong to the operator: the caller cannot fix them. */
const OUR_ACCOUNT = new Set([401, 402, 403]);
const CALLERS_CONTENT = new Set([400, 404, 413, 422]);
const RETRY_AFTER_SECONDS_MAX = 60;
const RETRY_AFTER_SECONDS_DEFAULT = 5;

/** An HTTP status other than 200; `words` is upstream's message, already scrubbed. */
export function failureOfStatus(
  status: number,
  retryAfter: string | null,
  words: string,
  upstream: ReasonUpstream = { status, type: null, message: words },
): CallFailure {
  const cause = `HTTP ${status}: ${words}`;
  if (CALLERS_CONTENT.has(status)) return new CallFailure('upstream_rejected', words, { status, cause, upstream });
  if (status === 429) {
    const retryAfterSeconds = readRetryAfter(retryAfter);
    return new CallFailure('upstream_rate_limited', 'the model provider limits the rate of calls; try again later', {
      cause,
      retryAfterSeconds,
      upstream,
    });
  }
  if (OUR_ACCOUNT.has(status)) return operatorsFault('account', cause, upstream);
  if (status === 408 || status === 504) {
    return new CallFailure('upstream_timeout', `the model provider timed out (HTTP ${status})`, { cause, upstream });
  }
  if (status === 529) {
    return new CallFailure('upstream_overloaded', 'the model provider is overloaded', { cause, upstream });
  }
  return new CallFailure('upstream_failed', `the model provider failed (HTTP ${status})`, { cause, upstream });
}

const OPERATORS_FAULT: { readonly [trouble in AccountTrouble]: readonly [FailureKind, string] } = {
  account: ['upstream_credential', "the model provider refused this gateway's own account"],
  model: [
    'upstream_misconfigured',
    'the model provider does not know the model or the address that this gateway is configured with',
  ],
};

/** The caller cannot fix it, so upstream's message is not shown. */
function operatorsFault(trouble: AccountTrouble, cause: string, upstream: ReasonUpstream): CallFailure {
  const [kind, message] = OPERATORS_FAULT[trouble];
  return new CallFailure(kind, `${message}; its operator must correct that`, { cause, upstream });
}

/** Whether a failure concerns the operator's account or configuration, so that the log raises an alarm. */
export function isOperatorsFault({ kind }: CallFailure): boolean {
  return kind === 'upstream_credential' || kind === 'upstream_misconfigured';
}

/**
 * An HTTP status other than 200 where client and upstream use the same format. `error` is parsed from the body, `words`
 * is its message and `shown` the part that the caller may see, both scrubbed. The body takes precedence over the
 * status: hosts report problems of the operator's account with 400 and 429.
 */
export function failureOfRefusal(
  status: number,
  retryAfter: string | null,
  error: UpstreamError,
  words: string,
  shown: string,
): CallFailure {
  const upstream = { status, type: error.code, message: words };
  const trouble = troubleOf(status, error);
  if (trouble !== null) return operatorsFault(trouble, `HTTP ${status}: ${shown}`, upstream);
  return failureOfStatus(status, retryAfter, shown, upstream);
}

const NAMES_MODEL = /\b(?:model|deployment)s?\b/i;
/** Missing objects that a caller can name. */
const NAMES_CALLERS = /\b(?:file|container|batch|image)s?\b/i;

/** For a 404: without an error in its body it does not come from a model host, so the configured address is wrong. */
function troubleOf(status: number, { trouble, message }: UpstreamError): AccountTrouble | null {
  if (trouble !== null || status !== 404) return trouble;
  return message === '' || (NAMES_MODEL.test(message) && !NAMES_CALLERS.test(message)) ? 'model' : null;
}

/** Messages of hosts that report overload with a 503 (xAI, recorded in 2026). */
const ABOUT_LOAD = /\boverloaded\b|\bat capacity\b/i;

/**
 * An HTTP status other than 200 where client and upstream use different formats: upstream's body cannot be passed on,
 * so the failure is rendered in the caller's format. `error` is parsed from the body, `words` is its message, scrubbed.
 * Wire reference C.6; contract, 5.
 */
export function failureOfTranslatedError(
  status: number,
  retryAfter: string | null,
  error: UpstreamError,
  words: string,
): CallFailure {
  const cause = `HTTP ${status}: ${words}`;
  const upstream = { status, type: error.code, message: words };
  const trouble = troubleOf(status, error);
  if (trouble !== null) return operatorsFault(trouble, cause, upstream);
  if (blamesCaller(status)) {
    const { condition } = error;
    if (condition === 'context_overflow' || condition === 'output_over_context') {
      return failureOfOverflow({ ...error, condition }, cause, upstream);
    }
  }
  if (status === 503 && ABOUT_LOAD.test(error.message)) return failureOfStatus(529, retryAfter, words, upstream);
  const shown = words === '' ? `the model provider refused the request (HTTP ${status})` : words;
  return failureOfStatus(status, retryAfter, shown, upstream);
}

/** Whether the caller could have caused a refusal with this status. */
function blamesCaller(status: number): boolean {
  return status >= 400 && status < 500 && !OUR_ACCOUNT.has(status);
}

/** Each protocol renders overflow in the wording that clients know; this message is for the log. */
function failureOfOverflow(overflow: Overflow, cause: string, upstream: ReasonUpstream): CallFailure {
  const { condition, promptTokens: prompt, outputTokens: output, tokensMax: max } = overflow;
  const message =
    condition === 'context_overflow'
      ? 'the prompt is longer than the context of the model'
      : 'the prompt and the answer that was asked for are longer together than the context of the model';
  return new CallFailure(condition, message, { cause, upstream, param: 'messages', tokens: { prompt, output, max } });
}

/** An error record in a stream, or an error body under a 200. */
export function failureOfErrorWords(type: string, status: number | null, words: string): CallFailure {
  const upstream = { status, type, message: words };
  const trouble = readAccountTrouble(words, type);
  if (trouble !== null) return operatorsFault(trouble, `${type}: ${words}`, upstream);
  const overflow = status === null || blamesCaller(status) ? readOverflow(words, type) : null;
  if (overflow !== null) return failureOfOverflow(overflow, `${type}: ${words}`, upstream);
  if (status !== null) return failureOfStatus(status, null, words, upstream);
  if (type === 'overloaded_error') return failureOfStatus(529, null, words, upstream);
  if (type === 'rate_limit_error' || type === 'rate_limit_exceeded') return failureOfStatus(429, null, words, upstream);
  if (type === 'malformed')
    return new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${words}`);
  if (type === 'timeout_error') return failureOfStatus(504, null, words, upstream);
  return new CallFailure('upstream_failed', `the model provider failed: ${words}`, { cause: type, upstream });
}

/** A stream that ended cleanly at the HTTP level, but before its protocol's own end. */
export function failureOfEarlyEnd(): CallFailure {
  return new CallFailure('upstream_truncated', 'the stream of the model provider ended before it was complete');
}

/**
 * A non-streamed answer that came after the client was promised a stream: upstream's body can no longer be passed on,
 * even in the same format. `error` is parsed from the body, `words` is its message, scrubbed.
 */
export function failureOfLateAnswer(head: ResponseHead, error: UpstreamError, words: string): CallFailure {
  const { status } = head;
  if (status !== 200) return failureOfTranslatedError(status, headerOf(head, 'retry-after'), error, words);
  if (words !== '') return failureOfErrorWords('error', null, words);
  return new CallFailure('upstream_malformed', 'the model provider answered a streamed call in one piece');
}

/** Whole seconds, 1 to 60: clients that obey any value would wait for hours on larger ones. */
function readRetryAfter(value: string | null): number {
  const text = value?.trim() ?? '';
  // HTTP dates begin with the name of a day; `Date.parse` would read `-1` as a year.
  const dateMs = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (dateMs - Date.now()) / 1000;
  if (!Number.isFinite(seconds)) return RETRY_AFTER_SECONDS_DEFAULT;
  return Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(seconds)));
}
