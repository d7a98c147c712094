/**
 * Tests upstream-outcome.ts: the rows of contract 5 about upstream, and that no row blames the caller for an upstream
 * fault.
 */

import { describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
import { CoolDown } from '../../routing/health/credential-health.ts';
import { headerOf } from '../../upstream/response-head.ts';
import {
  AttemptFailure,
  failureOfErrorWords,
  failureOfRefusal,
  failureOfStatus,
  failureOfTranslatedError,
  failureOfTransport,
  retryAfterOf,
} from './upstream-outcome.ts';

describe('a status', () => {
  test.each([
    [400, 'upstream_rejected', 400, 400],
    [404, 'upstream_rejected', 404, 404],
    [413, 'upstream_rejected', 413, 413],
    [422, 'upstream_rejected', 422, 422],
    [401, 'upstream_credential', 500, 500],
    [402, 'upstream_credential', 500, 500],
    [403, 'upstream_credential', 500, 500],
    [408, 'upstream_timeout', 500, 504],
    [429, 'upstream_rate_limited', 429, 429],
    [500, 'upstream_failed', 500, 500],
    [503, 'upstream_failed', 500, 500],
    [504, 'upstream_timeout', 500, 504],
    [529, 'upstream_overloaded', 500, 529],
    [301, 'upstream_misconfigured', 500, 500],
    [307, 'upstream_misconfigured', 500, 500],
    [405, 'upstream_misconfigured', 500, 500],
    [201, 'upstream_failed', 500, 500],
    [999, 'upstream_failed', 500, 500],
  ] as const)('%d is %s: %d on chat, %d on messages', (status, kind, chat, messages) => {
    const failure = failureOfStatus(status, null, 'words');
    expect([
      failure.kind,
      CLIENT_PROTOCOLS.chat.statusOf(failure),
      CLIENT_PROTOCOLS.messages.statusOf(failure),
    ]).toEqual([kind, chat, messages]);
  });

  test('has the pause that the provider names, also where the provider failed', () => {
    for (const status of [429, 500, 503, 529])
      expect(failureOfStatus(status, '3', 'overloaded')).toMatchObject({ pauseMs: 3_000 });
    expect(failureOfStatus(503, null, 'words')).toMatchObject({ pauseMs: null });
  });

  test('of an upstream fault shows none of its text', () => {
    for (const status of [401, 403, 408, 429, 500, 502, 504, 529]) {
      expect(failureOfStatus(status, null, 'org-secret').message).not.toContain('org-secret');
    }
  });

  test.each([
    [null, 5],
    ['', 5],
    ['0', 1],
    ['0.2', 1],
    ['7', 7],
    ['60', 60],
    ['61', 60],
    ['1e9', 5],
    ['999999999999', 60],
    ['-3', 5],
    ['soon', 5],
    ['Wed, 21 Oct 2099 07:28:00 GMT', 60],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 1],
  ])('a 429 with retry-after %p has a retry after %d s', (header, seconds) => {
    expect(failureOfStatus(429, header, '').details.retryAfterSeconds).toBe(seconds);
  });
});

test.each([
  ['1', '0', '1'],
  ['0', '1500', '1.5'],
  [null, '250', '0.25'],
  ['7', null, '7'],
  ['Wed, 21 Oct 2099 07:28:00 GMT', '500', '0.5'],
  ['3', 'soon', '3'],
])('vector 48: retry-after %p with retry-after-ms %p is %p', (plain, ms, delay) => {
  const given = [['retry-after', plain] as const, ['retry-after-ms', ms] as const];
  const headers = given.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const head = { status: 429, headers, framing: 'none', lengthBytes: 0, keepAlive: true } as const;
  expect(retryAfterOf(head)).toBe(delay);
});

test('vector 22: a 429 of Vertex without details pauses for 2 s, then twice as long each time', () => {
  const body = {
    error: { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' },
  };
  const error = UPSTREAM_PROTOCOLS.messages.readError(Buffer.from(JSON.stringify([body])));
  const failure = failureOfRefusal(429, null, error, error.message, error.message);
  expect(failure).toBeInstanceOf(AttemptFailure);
  expect(failure).toMatchObject({ failureClass: 'rate', pauseMs: null });
  const coolDown = new CoolDown(() => 0);
  const pauses = [1, 2, 3, 4, 5, 6, 7].map((hour) => {
    const nowMs = hour * 3_600_000;
    coolDown.set((failure as AttemptFailure).pauseMs, { workspace: 'w', begunMs: nowMs }, nowMs);
    return (coolDown.untilMs - nowMs) / 1000;
  });
  expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60]);
});

describe('a daily limit', () => {
  const HOUR_MS = 3_600_000;

  test.each([
    ['Too many tokens per day, please wait before trying again.', HOUR_MS],
    ['Too many tokens, please wait before trying again.', null],
    ['Rate limit reached on requests per day (RPD). Please try again in 7m12s.', 432_000],
  ])('"%s" pauses for %p ms, in a response and in a stream', (words, pauseMs) => {
    const expected = { failureClass: 'rate', pauseMs };
    const body = Buffer.from(JSON.stringify({ message: words }));
    const error = UPSTREAM_PROTOCOLS.converse.readError(body, [['x-amzn-errortype', 'ThrottlingException']]);
    for (const status of [429, 400])
      expect(failureOfTranslatedError(status, null, error, words)).toMatchObject(expected);
    expect(failureOfErrorWords('throttlingException', 429, words)).toMatchObject(expected);
    expect(failureOfErrorWords('rate_limit_error', null, words)).toMatchObject(expected);
  });

  test.each([
    [
      'Rate limit reached for model `tide-1` in organization `org_1` on tokens per day. Please try again in 5h0m1s.',
      'rate',
    ],
    ['Rate limit of 8 per 86400s exceeded for UserByModelByDay.', 'rate'],
    ['Quota exceeded for metric: requests, limit: 250, model: tide-1', 'rate'],
    ['Rate limit of the account exceeded.', 'quota'],
  ])('of hours with the words "%s" is %s: of its model, or of the account', (words, failureClass) => {
    expect(failureOfStatus(429, '18000', words)).toMatchObject({ failureClass });
  });
});

describe('an error in words', () => {
  test.each([
    ['error', 400, 'upstream_rejected'],
    ['error', 503, 'upstream_failed'],
    ['overloaded_error', null, 'upstream_overloaded'],
    ['rate_limit_error', null, 'upstream_rate_limited'],
    ['timeout_error', null, 'upstream_timeout'],
    ['invalid_request_error', null, 'upstream_failed'],
  ] as const)('of type %s and status %p is %s', (type, status, kind) => {
    expect(failureOfErrorWords(type, status, 'w').kind).toBe(kind);
  });
});

describe('an error in words that speak of the context', () => {
  const words = 'prompt is too long: 210000 tokens > 200000 maximum';
  test.each([
    ['error', 400, 'context_overflow'],
    ['error', 413, 'context_overflow'],
    ['invalid_request_error', null, 'context_overflow'],
    ['error', 401, 'upstream_credential'],
    ['error', 500, 'upstream_failed'],
    ['rate_limit_error', null, 'upstream_rate_limited'],
  ] as const)('of type %s and status %p is %s', (type, status, kind) => {
    expect(failureOfErrorWords(type, status, words).kind).toBe(kind);
  });

  test('keeps the numbers for the caller and the text for the log', () => {
    const { details } = failureOfErrorWords('error', null, words);
    expect(details.tokens).toEqual({ prompt: 210000, output: null, max: 200000 });
    expect(details.cause).toContain(words);
  });
});

describe('a fault of the connection', () => {
  test.each([
    ['authorization', 'upstream_credential'],
    ['connect', 'upstream_failed'],
    ['tls', 'upstream_failed'],
    ['connect_timeout', 'upstream_timeout'],
    ['first_byte_timeout', 'upstream_timeout'],
    ['idle_timeout', 'upstream_timeout'],
    ['total_timeout', 'upstream_timeout'],
    ['proxy', 'upstream_misconfigured'],
    ['reset', 'upstream_failed'],
    ['truncated', 'upstream_truncated'],
    ['malformed', 'upstream_malformed'],
    ['too_large', 'upstream_malformed'],
    ['aborted', 'upstream_failed'],
  ] as const)('%s is %s, and its cause is for the log only', (kind, wanted) => {
    const failure = failureOfTransport({ kind, message: '10.0.0.7 refused', sent: false, stale: false });
    expect(failure.kind).toBe(wanted);
    expect(failure.message).not.toContain('10.0.0.7');
    expect(failure.details.cause).toBe('10.0.0.7 refused');
    expect([401, 403, 429]).not.toContain(CLIENT_PROTOCOLS.chat.statusOf(failure));
  });
});

test('a request that could not be authorized pauses its credential for ten seconds, as its token may be back by then', () => {
  const failed = { message: 'no token', sent: false, stale: false };
  const pauseOf = (kind: 'authorization' | 'connect') => {
    const failure = failureOfTransport({ kind, ...failed });
    return failure instanceof AttemptFailure ? [failure.failureClass, failure.pauseMs] : failure;
  };
  expect([pauseOf('authorization'), pauseOf('connect')]).toEqual([
    ['credential', 10_000],
    ['unreached', null],
  ]);
});

test('headerOf finds a header by its lower-case name', () => {
  const head = {
    status: 200,
    headers: [
      ['a', '1'],
      ['b', '2'],
    ],
    framing: 'none',
    lengthBytes: 0,
    keepAlive: true,
  } as const;
  expect([headerOf(head, 'b'), headerOf(head, 'c')]).toEqual(['2', null]);
});
