/** Tests what Google's errors mean: whose fault, for how long, and what the caller is told. */
import { describe, expect, test } from 'bun:test';
import { AttemptFailure, classOf, failureOfTranslatedError } from '../../../src/call/attempt/upstream-outcome.ts';
import { secondsToReset } from '../../../src/protocols/answer/retry-details.ts';
import { GEMINI } from './rig.ts';

function failureOf(status: number, error: object) {
  const read = GEMINI.readError(Buffer.from(JSON.stringify({ error: { code: status, ...error } })));
  const failure = failureOfTranslatedError(status, null, read, read.message);
  const pauseMs = failure instanceof AttemptFailure ? failure.pauseMs : null;
  return { kind: failure.kind, class: classOf(failure), pauseMs };
}

test('vector 20: an invalid key is the operator’s trouble, although the status is 400', () => {
  const error = { message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' };
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
  const expected = { kind: 'upstream_credential', class: 'credential', pauseMs: null } as const;
  expect(failureOf(400, error)).toEqual(expected);
  expect(failureOf(400, { ...error, message: 'Bad key.', details })).toEqual(expected);
});

describe('vector 21: a rate limit', () => {
  const exceeded = (quotaId: string, retryDelay: string, quotaDimensions: object = { model: 'm' }) =>
    failureOf(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId, quotaDimensions }],
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
      ],
    });

  test('of a minute pauses for the delay that it names', () => {
    const expected = { kind: 'upstream_rate_limited', class: 'rate' } as const;
    const perMinute = 'GenerateRequestsPerMinutePerProjectPerModel';
    expect(exceeded(perMinute, '23s')).toEqual({ ...expected, pauseMs: 23_000 });
    expect(exceeded(perMinute, '46.9s')).toEqual({ ...expected, pauseMs: 46_900 });
  });

  test('of a day pauses until midnight in California', () => {
    const found = exceeded('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '23s');
    const leftMs = secondsToReset(Date.now()) * 1000;
    expect(Math.abs((found.pauseMs ?? 0) - leftMs)).toBeLessThan(5_000);
    // Of the model it names, so that the credential's other models go on.
    expect(found.class).toBe('rate');
  });

  test('of a day for the whole project is a quota of the credential', () => {
    const found = exceeded('GenerateRequestsPerDayPerProject', '23s', {});
    expect(found.class).toBe((found.pauseMs ?? 0) > 3_600_000 ? 'quota' : 'rate');
  });

  test.each([
    ['2026-11-23T08:00:00Z', 86_400],
    ['2026-11-23T07:59:59Z', 1],
    ['2026-07-01T06:59:00Z', 60],
  ])('at %s, that is %d seconds away', (at, seconds) => {
    expect(secondsToReset(Date.parse(at))).toBe(seconds);
  });
});

test.each([
  [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'upstream_credential', 'credential'],
  [403, 'PERMISSION_DENIED', 'Method is blocked.', 'upstream_credential', 'credential'],
  [404, 'NOT_FOUND', 'models/gemini-x is not found for API version v1beta.', 'upstream_misconfigured', 'config'],
  [503, 'UNAVAILABLE', 'The service is currently unavailable.', 'upstream_overloaded', 'overloaded'],
  [500, 'INTERNAL', 'Internal error encountered.', 'upstream_failed', 'fault'],
  [400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.', 'upstream_rejected', 'content'],
  [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1250060) exceeds the maximum number of tokens allowed (1048575).',
    'context_overflow',
    'overflow',
  ],
] as const)('%d %s: %s', (status, word, message, kind, failureClass) => {
  expect(failureOf(status, { message, status: word })).toMatchObject({ kind, class: failureClass });
});
