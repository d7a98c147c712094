/**
 * Maps an upstream's failure to the call's failure and to the class that decides what follows: transport fault, HTTP
 * status, or an error in the stream. Contract, 5; design of routing, 3.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import type { ReasonUpstream } from '../../errors/reason.ts';
import { type Overflow, readOverflow, type UpstreamError } from '../../protocols/answer/error-body.ts';
import { type AccountTrouble, readMeaning } from '../../protocols/answer/error-words.ts';
import type { FailureClass } from '../../routing/health/failure-table.ts';
import { PAUSE_MS_DEFAULT } from '../../routing/planned-call.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../../upstream/connection.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';

/** Why an attempt failed. */
export class AttemptFailure extends CallFailure {
  readonly failureClass: FailureClass;
  /** The time after which the provider takes calls again, exactly, in ms; null: it named none. */
  readonly pauseMs: number | null;

  constructor(
    kind: FailureKind,
    failureClass: FailureClass,
    message: string,
    details: CallFailure['details'] = {},
    pauseMs: number | null = null,
  ) {
    super(kind, message, details);
    this.failureClass = failureClass;
    this.pauseMs = pauseMs;
  }
}

/** The class of any failure of an attempt; `client` for those of the caller and of the gateway. */
export function classOf(failure: CallFailure): FailureClass {
  if (failure instanceof AttemptFailure) return failure.failureClass;
  if (failure.kind === 'context_overflow' || failure.kind === 'output_over_context') return 'overflow';
  return FAILURE_KINDS[failure.kind].origin === 'upstream' ? 'fault' : 'client';
}

/** SDKs repeat a failed request at once; a route whose targets all fail needs a moment. */
const DEAD_ROUTE_SECONDS = 5;
const REPEATED_BY_CLIENTS: ReadonlySet<string> = new Set(['unreached', 'reset', 'fault', 'overloaded', 'timeout']);

/** Clients of a route whose targets all fail come back after a moment. */
export function withRetryAfter(failure: CallFailure): CallFailure {
  const { kind, message, details } = failure;
  if (details.retryAfterSeconds !== undefined || !REPEATED_BY_CLIENTS.has(classOf(failure))) return failure;
  return new CallFailure(kind, message, { ...details, retryAfterSeconds: DEAD_ROUTE_SECONDS });
}

/**
 * Another target of the route may take calls before the one that the failure is of; `seconds` null: none is known to. A
 * pause that the provider did not name stays the usual one: how soon we try the target again is a guess.
 */
export function retryWithin(failure: CallFailure, seconds: number | null): CallFailure {
  const { kind, message, details } = failure;
  const isGuess = failure instanceof AttemptFailure && failure.pauseMs === null;
  if (isGuess || seconds === null || (details.retryAfterSeconds ?? 0) <= seconds) return failure;
  return new CallFailure(kind, message, { ...details, retryAfterSeconds: seconds });
}

/** An error other than a CallFailure is a fault of the gateway. */
export function failureOf(error: unknown): CallFailure {
  return error instanceof CallFailure
    ? error
    : new CallFailure('gateway_fault', 'the gateway failed', { cause: error });
}

/** A strict key refuses members that this target would drop, before anything was sent; another may take all of them. */
export function failureOfSending(error: unknown): CallFailure {
  const failure = failureOf(error);
  if (failure.kind !== 'invalid_request') return failure;
  return new AttemptFailure(failure.kind, 'ours', failure.message, failure.details);
}

const TRANSPORT: { readonly [kind in UpstreamFailureKind]: readonly [FailureKind, FailureClass, string] } = {
  authorization: [
    'upstream_credential',
    'credential',
    "this gateway's credential for the model provider could not be used",
  ],
  connect: ['upstream_failed', 'unreached', 'the model provider cannot be reached'],
  proxy: ['upstream_misconfigured', 'unreached', 'the proxy that leads to the model provider cannot be used'],
  tls: ['upstream_failed', 'unreached', 'no secure connection to the model provider could be made'],
  connect_timeout: ['upstream_timeout', 'unreached', 'the model provider did not accept a connection in time'],
  first_byte_timeout: ['upstream_timeout', 'timeout', 'the model provider did not begin to answer in time'],
  idle_timeout: ['upstream_timeout', 'timeout', 'the model provider fell silent in the middle of its answer'],
  total_timeout: [
    'upstream_timeout',
    'timeout',
    'the model provider did not finish within the time that a call may take',
  ],
  reset: ['upstream_failed', 'fault', 'the model provider closed the connection without an answer'],
  truncated: ['upstream_truncated', 'fault', 'the model provider closed the connection before the end of its answer'],
  malformed: ['upstream_malformed', 'fault', 'the model provider did not answer in HTTP/1.1'],
  too_large: ['upstream_malformed', 'fault', 'the answer of the model provider is larger than this gateway takes'],
  fault: ['gateway_fault', 'client', 'the gateway failed; this is not your fault'],
  no_descriptor: ['over_capacity', 'client', 'the gateway has too many connections open; try again shortly'],
  aborted: ['upstream_failed', 'client', 'the call to the model provider was given up'],
};

/** The source of its token may only be away for a moment, and another try costs nothing. */
const UNAUTHORIZED_PAUSE_MS = 10_000;

/** A transport fault, below HTTP. */
export function failureOfTransport(failure: UpstreamFailure): CallFailure {
  const [kind, failureClass, message] = TRANSPORT[failure.kind];
  const cause = failure.message;
  if (failure.kind === 'no_descriptor') return new CallFailure(kind, message, { cause, retryAfterSeconds: 1 });
  if (kind === 'gateway_fault') return new CallFailure(kind, message, { cause });
  const details = { cause, upstream: { status: null, type: failure.kind, message: cause } };
  const pauseMs = failure.kind === 'authorization' ? UNAUTHORIZED_PAUSE_MS : null;
  return new AttemptFailure(kind, classOfReset(failure) ?? failureClass, message, details, pauseMs);
}

/** Null: it is no reset. */
function classOfReset({ kind, sent, stale }: UpstreamFailure): FailureClass | null {
  if (kind !== 'reset') return null;
  if (!sent) return 'unreached';
  return stale ? 'reset' : 'fault';
}

/** Upstream's credential and bill belong to the operator: the caller cannot fix them. */
const OUR_ACCOUNT = new Set([401, 402, 403]);
const CALLERS_CONTENT = new Set([400, 404, 413, 422]);
/** The configured address is not that of the provider's API. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Messages of hosts that report overload with a 503 (xAI, recorded in 2026). */
const ABOUT_LOAD = /\boverloaded\b|\bcapacity\b/i;
const RETRY_AFTER_SECONDS_MAX = 60;

/** A provider that is unavailable for longer limits an account, not a rate, unless it names one model. */
const RATE_MS_MAX = 3_600_000;
/**
 * Limits of one model: of Groq and OpenAI ("Rate limit reached for model `x` in organization"), GitHub
 * ("UserByModelByDay") and Gemini ("limit: 250, model: x"). Read 2026-11-23.
 */
const OF_MODEL = /limit reached for (?:model )?\S{1,200} in organization\b|\bUserByModelBy|, model: \S/i;
/**
 * Filters of hosts: Azure, OpenAI, Bedrock, and by their words OpenRouter, xAI, Alibaba, DeepSeek, Z.ai, MiniMax
 * (user reports and vendors' pages, read 2026-11-23).
 */
const POLICY =
  /content_?filter|content management policy|content_policy|responsibleai|guardrail|\bsafety\b|blocked|requires moderation|usage guidelines|data_?inspection|content exists risk|unsafe or sensitive|new_sensitive/i;

/**
 * An HTTP status other than 200; `words` is upstream's message, already scrubbed. `retryAfter`: see `retryAfterOf`.
 * `ofModel`: a limit is that of one model.
 */
export function failureOfStatus(
  status: number,
  retryAfter: string | null,
  words: string,
  upstream: ReasonUpstream = { status, type: null, message: words },
  ofModel = OF_MODEL.test(upstream.message ?? ''),
): CallFailure {
  const cause = `HTTP ${status}: ${words}`;
  if (CALLERS_CONTENT.has(status)) {
    const isPolicy = POLICY.test(`${upstream.type} ${upstream.message}`);
    return new AttemptFailure('upstream_rejected', isPolicy ? 'policy' : 'content', words, { status, cause, upstream });
  }
  if (status === 429) {
    const pauseMs = delayOf(retryAfter, words);
    const seconds = Math.ceil((pauseMs ?? PAUSE_MS_DEFAULT) / 1000);
    return new AttemptFailure(
      'upstream_rate_limited',
      pauseMs !== null && pauseMs > RATE_MS_MAX && !ofModel ? 'quota' : 'rate',
      'the model provider limits the rate of calls; try again later',
      { cause, upstream, retryAfterSeconds: Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, seconds)) },
      pauseMs,
    );
  }
  if (OUR_ACCOUNT.has(status)) return operatorsFault('account', cause, upstream);
  if (status === 405) return operatorsFault('model', cause, upstream);
  if (REDIRECTS.has(status)) {
    return operatorsFault('model', `HTTP ${status}: a redirect to another address, which is never followed`, upstream);
  }
  if (status === 408 || status === 504) {
    const message = `the model provider timed out (HTTP ${status})`;
    return new AttemptFailure('upstream_timeout', 'fault', message, { cause, upstream });
  }
  // A host that names a pause gets it before the same target is tried again.
  const pauseMs = retryAfter === null ? null : delayOf(retryAfter, '');
  const details = { cause, upstream };
  if (status === 529 || (status === 503 && ABOUT_LOAD.test(words))) {
    const message = 'the model provider is overloaded';
    return new AttemptFailure('upstream_overloaded', 'overloaded', message, details, pauseMs);
  }
  return new AttemptFailure('upstream_failed', 'fault', `the model provider failed (HTTP ${status})`, details, pauseMs);
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
  return new AttemptFailure(kind, classOfTrouble(trouble, upstream), `${message}; its operator must correct that`, {
    cause,
    upstream,
  });
}

const ABOUT_MONEY = /quota|balance|billing|\bcredits?\b|usage limit|spending limit|free allocation|arrearage/i;

function classOfTrouble(trouble: AccountTrouble, { status, type, message }: ReasonUpstream): FailureClass {
  if (trouble === 'model') return 'config';
  return status === 402 || ABOUT_MONEY.test(`${type} ${message}`) ? 'quota' : 'credential';
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
  const meant = error.status ?? status;
  if (!CALLERS_CONTENT.has(meant) || error.condition === 'other')
    return failureOfStatus(meant, longerDelay(retryAfter, error), shown, upstream, error.ofModel);
  // The caller gets upstream's own body.
  const failureClass = error.condition === 'signature' ? 'ours' : 'overflow';
  return new AttemptFailure('upstream_rejected', failureClass, shown, {
    status,
    cause: `HTTP ${status}: ${shown}`,
    upstream,
  });
}

const NAMES_MODEL = /\b(?:model|deployment)s?\b/i;
/** Missing objects that a caller can name. */
const NAMES_CALLERS = /\b(?:file|container|batch|image)s?\b/i;

/** For a 404: without an error in its body it does not come from a model host, so the configured address is wrong. */
function troubleOf(status: number, { trouble, message }: UpstreamError): AccountTrouble | null {
  if (trouble !== null || status !== 404) return trouble;
  return message === '' || (NAMES_MODEL.test(message) && !NAMES_CALLERS.test(message)) ? 'model' : null;
}

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
  const delay = longerDelay(retryAfter, error);
  const trouble = troubleOf(status, error);
  if (trouble !== null) return operatorsFault(trouble, cause, upstream);
  const meant = error.status ?? status;
  if (blamesCaller(meant)) {
    const { condition } = error;
    if (condition === 'context_overflow' || condition === 'output_over_context') {
      return failureOfOverflow({ ...error, condition }, cause, upstream);
    }
  }
  const shown = words === '' ? `the model provider refused the request (HTTP ${status})` : words;
  return failureOfStatus(meant, delay, shown, upstream, error.ofModel);
}

/** The delay of the header or of the body's members, whichever is longer. */
function longerDelay(retryAfter: string | null, { retrySeconds }: UpstreamError): string | null {
  if (retrySeconds === undefined) return retryAfter;
  return String(Math.max(retrySeconds, (delayOf(retryAfter, '') ?? 0) / 1000));
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
  const tokens = { prompt, output, max };
  return new AttemptFailure(condition, 'overflow', message, { cause, upstream, param: 'messages', tokens });
}

/** An error record in a stream, or an error body under a 200. */
export function failureOfErrorWords(type: string, status: number | null, words: string): CallFailure {
  const upstream = { status, type, message: words };
  const meaning = readMeaning(words, type);
  if (typeof meaning === 'string') return operatorsFault(meaning, `${type}: ${words}`, upstream);
  const meant = meaning ?? status;
  const overflow = meant === null || blamesCaller(meant) ? readOverflow(words, type) : null;
  if (overflow !== null) return failureOfOverflow(overflow, `${type}: ${words}`, upstream);
  if (meant !== null) return failureOfStatus(meant, null, words, upstream);
  if (type === 'malformed')
    return new AttemptFailure('upstream_malformed', 'fault', `the model provider sent an invalid answer: ${words}`);
  const details = { cause: type, upstream };
  return new AttemptFailure('upstream_failed', 'fault', `the model provider failed: ${words}`, details);
}

/** A stream that ended cleanly at the HTTP level, but before its protocol's own end. */
export function failureOfEarlyEnd(): CallFailure {
  return new AttemptFailure(
    'upstream_truncated',
    'fault',
    'the stream of the model provider ended before it was complete',
  );
}

/** A 200 without content, finish reason and usage. */
export function failureOfHollowAnswer(): CallFailure {
  return new AttemptFailure('upstream_malformed', 'fault', 'the answer of the model provider is empty');
}

/** A stream was asked for, and the answer is something else. */
export function failureOfOnePiece(): CallFailure {
  return new AttemptFailure('upstream_malformed', 'fault', 'the model provider answered a streamed call in one piece');
}

const DECIMAL = /^\d+(?:\.\d+)?$/;

/**
 * The delay that a head names: `retry-after` in seconds or as a date, or the more exact `retry-after-ms`. Azure sends
 * both, and 0 in one of them (recorded 2026): of two numbers the larger.
 */
export function retryAfterOf(head: ResponseHead): string | null {
  const plain = headerOf(head, 'retry-after');
  const ms = headerOf(head, 'retry-after-ms')?.trim() ?? '';
  if (!DECIMAL.test(ms)) return plain;
  const seconds = plain !== null && DECIMAL.test(plain.trim()) ? Number(plain) : 0;
  return String(Math.max(seconds, Number(ms) / 1000));
}

const DAY_MS = 86_400_000;
/** A daily limit whose end nothing names (Bedrock: "Too many tokens per day"): the target rests for an hour at a time. */
const DAILY = /\b(?:tokens|requests) per day\b/i;
const DAILY_PAUSE_MS = 3_600_000;
/**
 * Groq and OpenAI: "Please try again in 5.289s", "in 1m2.5s", "in 120ms" (recorded in 2026); Moonshot: "please try again
 * after 1 seconds"; Gemini: "Please retry in 46.9s."
 */
const TRY_AGAIN =
  /(?:try again|retry) (?:in|after) (?:(\d{1,4})h)?(?:(\d{1,4}) ?m(?![a-z]?s))?(?:(\d{1,5}(?:\.\d{1,9})?) ?(ms|s))?/i;

/** In ms, at most a day: the longest of the delays in the header and in the words, else that of a daily limit; null: none. */
function delayOf(header: string | null, words: string): number | null {
  const text = header?.trim() ?? '';
  // HTTP dates begin with the name of a day; `Date.parse` would read `-1` as a year.
  const dateMs = /^[A-Za-z]/.test(text) ? Date.parse(text) : Number.NaN;
  const named = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : dateMs - Date.now();
  const [found, hours, minutes, count, unit] = TRY_AGAIN.exec(words.slice(0, 1_000)) ?? [];
  const said =
    found === undefined || (hours ?? minutes ?? count) === undefined
      ? Number.NaN
      : Number(hours ?? 0) * 3_600_000 +
        Number(minutes ?? 0) * 60_000 +
        Number(count ?? 0) * (unit === 'ms' ? 1 : 1000);
  const told = Math.max(Number.isFinite(named) ? named : -1, Number.isFinite(said) ? said : -1);
  if (told >= 0) return Math.min(DAY_MS, told);
  if (Number.isFinite(named)) return 0;
  return DAILY.test(words.slice(0, 1_000)) ? DAILY_PAUSE_MS : null;
}
