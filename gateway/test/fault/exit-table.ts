/**
 * Tabulates every way a call can end: what the client gets, what the record says and what the customer pays. The exit
 * matrix is generated from it. Source: money design, "Who pays".
 */
import type { Scenario } from '../fake-upstream/scenario.ts';
import type { ProtocolName } from './calls.ts';
import { type Form, negativeUsage, opening, spoiledOpening, withoutContent } from './exit-scenarios.ts';

export type Path = 'same' | 'translated';

/** What the client does. */
export type Act =
  /** Reads the answer to the end. */
  | 'read'
  /** Sends the request twice with one idempotency key; the second call is judged. */
  | 'replay'
  /** Sends one call before; the second call is judged. */
  | 'read-again'
  /** Sends the call while another call of the same key runs; the second call is judged. */
  | 'read-beside'
  | 'leave-uploading'
  /** Disconnects once upstream has the last attempt of the call. */
  | 'leave-waiting'
  /** Disconnects once it has seen the last of what upstream sends. */
  | 'leave-reading'
  | 'stop-reading';

/**
 * What is charged. `upstream`: upstream's final usage. `counted`: our count of the request and the whole answer.
 * `input`: our count of the request. `so_far`: upstream's input if it reported it before the text, else our count, plus
 * the output that the client got. `produced`: the same with all output that came from upstream, delivered or not.
 */
export type Charged = 'nothing' | 'upstream' | 'counted' | 'input' | 'so_far' | 'produced';

/**
 * `none`: no entry. `void`, `post`: a hold and its end. `extended`: the hold grew before its post. `grown`: the hold
 * may have grown.
 */
export type Entries = 'none' | 'void' | 'post' | 'extended' | 'grown';

export interface Ending {
  readonly outcome: string;
  readonly forms: readonly Form[];
  readonly paths: readonly Path[];
  readonly act: Act;
  /** A list: for successive attempts. */
  readonly upstream: Scenario | readonly Scenario[] | ((upstream: ProtocolName, form: Form) => Scenario);
  /** Attempts in the record. */
  readonly attempts: number;
  /** The provider of the model: `lab` is patient, `hasty` has short timeouts, `gone` has no listener. */
  readonly provider: 'lab' | 'hasty' | 'gone';
  /** Settings of the key in addition to one concurrent call. */
  readonly key: Readonly<Record<string, unknown>>;
  readonly usd: string;
  /** For a client that disconnects while reading: the last word it can see, by upstream's format. */
  readonly lastWord: Readonly<Record<ProtocolName, string>>;
  /** Additional members of the request, by the client's format. */
  readonly members: Readonly<Record<ProtocolName, Readonly<Record<string, unknown>>>>;
  /** By the client's format. */
  readonly status: number | Readonly<Record<ProtocolName, number>>;
  /** By upstream's format. */
  readonly error: string | null | Readonly<Record<ProtocolName, string>>;
  readonly charged: Charged;
  /** By upstream's format. */
  readonly source: string | Readonly<Record<ProtocolName, string>>;
  readonly entries: Entries;
  /** The provider may bill the attempts that did not become the answer: the operator pays them. */
  readonly maybeBilled?: true;
  /** An upstream of the messages format reports its input before the attempt fails. */
  readonly tellsInput?: true;
  /** Status of the next call with the same key. */
  readonly next: number;
}

/** Words of a streamed answer that stalls after its ninth record. */
const NINE: Scenario = { answer: 'long:20', stallAfterEvent: 9 };
/** Far more than a slice of 2,048 tokens. */
const LONG: Scenario = { answer: 'long:40000' };

const USUAL = {
  forms: ['plain', 'stream'],
  paths: ['same', 'translated'],
  act: 'read',
  upstream: { answer: 'ok' },
  attempts: 1,
  provider: 'lab',
  key: {},
  usd: '1',
  // A chat completions stream has one record before its words, a messages stream three.
  lastWord: { chat: 'w8 ', messages: 'w6 ' },
  members: { chat: {}, messages: {} },
  next: 200,
} as const;

/** The answer is complete and is charged. */
const whole = (outcome: string, row: Partial<Ending>): Ending => ({
  ...USUAL,
  outcome,
  status: 200,
  error: null,
  charged: 'upstream',
  source: 'upstream',
  entries: 'post',
  ...row,
});
/** Nothing was sent, so nothing was held. */
const refused = (outcome: string, row: Partial<Ending> & Pick<Ending, 'status' | 'error'>): Ending => ({
  ...USUAL,
  outcome,
  attempts: 0,
  charged: 'nothing',
  source: 'void',
  entries: 'none',
  ...row,
});
/** The only target is tried again, twice, after a fault. */
const ALL_RETRIED = 3;
const FAULT: Scenario = { status: 500, errorBodyBytes: 100 };
const SILENT: Scenario = { delayBeforeFirstByteMs: 60_000 };

/** A failure that the customer did not cause, without any output. */
const failed = (outcome: string, row: Partial<Ending> & Pick<Ending, 'status' | 'error'>): Ending => ({
  ...USUAL,
  outcome,
  charged: 'nothing',
  source: 'void',
  entries: 'void',
  ...row,
});
/** A failure that the customer did not cause, after part of the answer was delivered. */
const broken = (outcome: string, upstream: Ending['upstream'], row: Partial<Ending> = {}): Ending => ({
  ...USUAL,
  outcome,
  upstream,
  forms: ['stream'],
  status: 200,
  error: 'upstream_truncated',
  charged: 'so_far',
  source: 'partial',
  entries: 'post',
  ...row,
});
/** The client disconnected. */
const left = (outcome: string, row: Partial<Ending>): Ending => ({
  ...USUAL,
  outcome,
  status: 499,
  error: 'client_left',
  charged: 'input',
  source: 'counted',
  entries: 'post',
  ...row,
});

/** Messages report input usage before the text. */
const BY_UPSTREAM = { chat: 'counted', messages: 'partial' } as const;

/** The errors of a fake upstream's failed stream. */
const FAILED = { chat: 'upstream_failed', messages: 'upstream_overloaded' } as const;

export const ENDINGS: readonly Ending[] = [
  whole('upstream answers whole and counts', {}),
  whole('upstream answers whole without a count', {
    upstream: { answer: 'ok', omitUsage: true },
    charged: 'counted',
    source: 'counted',
  }),
  whole('upstream answers whole with a count that is not a number', {
    upstream: negativeUsage,
    charged: 'counted',
    source: 'counted',
  }),
  whole('upstream ends its answer with a reason and no content', { upstream: withoutContent }),
  whole('upstream fails once and then answers', {
    upstream: [FAULT, { answer: 'ok' }],
    attempts: 2,
    maybeBilled: true,
  }),
  whole('upstream limits the rate for a second and then answers', {
    upstream: [{ status: 429, errorBodyBytes: 100, headers: { 'retry-after': '1' } }, { answer: 'ok' }],
    attempts: 2,
  }),
  whole('an answer is given out again', {
    act: 'replay',
    attempts: 0,
    charged: 'nothing',
    source: 'cache',
    entries: 'none',
  }),

  left('the client leaves while it sends its body', {
    forms: ['plain'],
    paths: ['same'],
    act: 'leave-uploading',
    attempts: 0,
    charged: 'nothing',
    source: 'void',
    entries: 'none',
  }),
  left('the client leaves while upstream is silent', {
    act: 'leave-waiting',
    upstream: SILENT,
  }),
  left('the client leaves while upstream is silent at a second attempt', {
    act: 'leave-waiting',
    upstream: [FAULT, SILENT],
    attempts: 2,
    maybeBilled: true,
  }),
  left('the client leaves in the middle of an answer in one piece', {
    forms: ['plain'],
    act: 'leave-waiting',
    upstream: { cut: { at: 40, how: 'stall' } },
  }),
  left('the client leaves in mid-stream', {
    forms: ['stream'],
    act: 'leave-reading',
    upstream: NINE,
    charged: 'so_far',
    source: BY_UPSTREAM,
  }),
  left('the client leaves with all of the text, before upstream counts', {
    forms: ['stream'],
    act: 'leave-reading',
    upstream: (upstream) => ({ answer: 'long:8', stallAfterEvent: upstream === 'chat' ? 10 : 12 }),
    lastWord: { chat: 'w8 ', messages: 'w8 ' },
    charged: 'so_far',
    source: BY_UPSTREAM,
  }),
  left('the client stops reading', {
    forms: ['stream'],
    act: 'stop-reading',
    upstream: { answer: 'endless' },
    status: 200,
    error: 'reader_too_slow',
    charged: 'produced',
    source: BY_UPSTREAM,
    entries: 'extended',
  }),

  failed('upstream cannot be reached', { provider: 'gone', attempts: 2, status: 500, error: 'upstream_failed' }),
  failed('upstream closes without an answer', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    upstream: { cut: { at: 'before-headers', how: 'rst' } },
    status: 500,
    error: 'upstream_failed',
  }),
  failed('upstream answers 500', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    upstream: FAULT,
    status: 500,
    error: 'upstream_failed',
  }),
  failed('upstream is overloaded', {
    attempts: ALL_RETRIED,
    upstream: { status: 529, errorBodyBytes: 100 },
    status: { chat: 500, messages: 529 },
    error: 'upstream_overloaded',
  }),
  failed('upstream limits the rate', {
    // The pause after the second refusal is too long to wait for.
    attempts: 2,
    upstream: { status: 429, errorBodyBytes: 100 },
    status: 429,
    error: 'upstream_rate_limited',
  }),
  failed("upstream refuses the operator's account", {
    upstream: { status: 401, errorBodyBytes: 100 },
    status: 500,
    error: 'upstream_credential',
  }),
  failed("upstream refuses the caller's content", {
    upstream: { status: 422, errorBodyBytes: 100 },
    status: 422,
    error: 'upstream_rejected',
  }),
  failed('upstream does not begin in time', {
    maybeBilled: true,
    provider: 'hasty',
    upstream: SILENT,
    status: { chat: 500, messages: 504 },
    error: 'upstream_timeout',
  }),
  failed('upstream answers 200 with nothing', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    forms: ['plain'],
    upstream: { hollow: true },
    status: 500,
    error: 'upstream_malformed',
  }),
  failed('upstream answers a stream of nothing', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    forms: ['stream'],
    upstream: { hollow: true },
    status: 500,
    error: 'upstream_truncated',
  }),
  failed('upstream ends a stream before its content', {
    maybeBilled: true,
    tellsInput: true,
    attempts: ALL_RETRIED,
    forms: ['stream'],
    upstream: opening,
    status: 500,
    error: 'upstream_truncated',
  }),
  failed('upstream sends nonsense in a stream before its content', {
    maybeBilled: true,
    tellsInput: true,
    attempts: ALL_RETRIED,
    forms: ['stream'],
    upstream: spoiledOpening,
    status: 500,
    error: 'upstream_malformed',
  }),
  failed('upstream answers 200 with nonsense', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    forms: ['plain'],
    upstream: { body: 'good day' },
    status: 500,
    error: 'upstream_malformed',
  }),
  failed('upstream begins a stream with an error', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    forms: ['stream'],
    upstream: { records: ['event: error\ndata: {"type":"error","error":{"type":"api_error","message":"no"}}\n\n'] },
    status: 500,
    error: 'upstream_failed',
  }),
  failed('upstream dies in the middle of an answer in one piece', {
    maybeBilled: true,
    attempts: ALL_RETRIED,
    forms: ['plain'],
    upstream: { cut: { at: 40, how: 'rst' } },
    status: 500,
    error: 'upstream_truncated',
  }),

  broken('upstream closes in mid-stream', { answer: 'long:20', cut: { at: 2_000, how: 'fin' } }),
  broken('upstream resets in mid-stream', { answer: 'long:20', cut: { at: 2_000, how: 'rst' } }),
  broken('upstream falls silent in mid-stream', NINE, { provider: 'hasty', error: 'upstream_timeout' }),
  broken('upstream fails in mid-stream', { answer: 'long:20', errorEvent: 9 }, { error: FAILED }),
  broken(
    'upstream sends nonsense in mid-stream',
    { answer: 'long:20', malformedEvent: 9 },
    { error: 'upstream_malformed' },
  ),
  broken('the balance does not cover the next slice', LONG, {
    usd: '0.0125',
    members: { chat: { max_tokens: 64_000 }, messages: { max_tokens: 64_000 } },
    error: 'quota_exceeded',
    charged: 'produced',
    entries: 'grown',
    next: 429,
  }),

  refused('the balance does not cover the call', { usd: '0.000001', status: 429, error: 'quota_exceeded', next: 429 }),
  refused('the budget does not cover the call', {
    key: { budget_usd: '0.000001', budget_window: 'total' },
    status: 429,
    error: 'quota_exceeded',
    next: 429,
  }),
  refused('the requests of the minute are used up', {
    act: 'read-again',
    key: { rpm: 1 },
    status: 429,
    error: 'rate_limited',
    next: 429,
  }),
  refused('as many calls run as may', {
    act: 'read-beside',
    upstream: SILENT,
    status: 429,
    error: 'rate_limited',
  }),
  refused('a translation would lose something of it', {
    paths: ['translated'],
    key: { strict: true },
    members: { chat: { seed: 7 }, messages: { metadata: { user_id: 'u' } } },
    status: 400,
    error: 'invalid_request',
  }),
];

/** The first ending of the table, a complete answer, with these members changed. */
export function endingWith(row: Partial<Ending>): Ending {
  const [complete] = ENDINGS;
  if (complete === undefined) throw new Error('the table of endings is empty');
  return { ...complete, ...row };
}
