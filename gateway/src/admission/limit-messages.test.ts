/** Tests the messages of refusals: kind, message and wait of each refusal, and what clients read from the message. */

import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../errors/call-failure.ts';
import { FAILURE_KINDS } from '../errors/failure-kinds.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import type { LimitRefusal } from '../store/ports/limits.ts';
import { refusalOf } from './limit-messages.ts';

const refused = (rest: Partial<LimitRefusal>): LimitRefusal => ({
  kind: 'requests',
  subject: { kind: 'key', id: 'secret-name' },
  limit: 2,
  use: { used: 2, cap: 2, needed: 1 },
  retryAfterMs: 30_000,
  window: null,
  windowEndMs: null,
  ...rest,
});

/** By these phrases LangChain (1.6, November 2026) classifies a 429 as one that no retry cures. Wire reference A.9. */
const NOT_RETRIED = /insufficient.quota|billing|credit balance|will reset at/i;

describe('a rate', () => {
  test.each([
    [refused({}), 'the limit of 2 requests per minute of this API key is reached; try again in 30 s', 30],
    [refused({ retryAfterMs: 1 }), 'try again in 1 s', 1],
    [refused({ retryAfterMs: 1_001 }), 'try again in 2 s', 2],
    [refused({ retryAfterMs: 60_000 }), 'try again in 60 s', 60],
    [
      refused({ kind: 'tokens', subject: { kind: 'workspace', id: 'w' }, limit: 900 }),
      'the limit of 900 tokens per minute of the workspace of this API key is reached',
      30,
    ],
    [
      refused({ kind: 'concurrency', subject: { kind: 'end_user', id: 'a/b' }, retryAfterMs: 1_000 }),
      'the limit of 2 concurrent requests of this end user is reached; try again in 1 s',
      1,
    ],
  ] as const)('%p', (refusal, words, seconds) => {
    const failure = refusalOf(refusal);
    expect([failure.kind, failure.details.retryAfterSeconds]).toEqual(['rate_limited', seconds]);
    expect(failure.message).toContain(words);
    expect(failure.message).not.toMatch(NOT_RETRIED);
  });

  test('a request above the limit suggests no retry and no wait', () => {
    const debt = refusalOf(refused({ kind: 'tokens', retryAfterMs: 60_001 }));
    expect([debt.kind, debt.details.retryAfterSeconds]).toEqual(['rate_out_of_reach', 60]);
    expect(debt.message).toContain('try again in 61 s');
    const never = refusalOf(refused({ kind: 'tokens', retryAfterMs: null }));
    expect([never.kind, never.details.retryAfterSeconds]).toEqual(['rate_out_of_reach', undefined]);
    // Tokens are taken by the estimate of the prompt: a lower maximum of output tokens would not help.
    expect(never.message).toBe(
      'the prompt of this request alone exceeds the limit of 2 tokens per minute of this API key; shorten it, or ask for a higher limit',
    );
    expect(FAILURE_KINDS.rate_out_of_reach).toEqual({ ...FAILURE_KINDS.rate_limited, shouldRetry: false });
  });
});

describe('a quota', () => {
  const budget = refused({ kind: 'budget', limit: null, retryAfterMs: null });

  test.each([
    [
      { ...budget, window: 'month', windowEndMs: Date.parse('2026-12-01') } as const,
      'insufficient quota: the monthly budget of this API key doesn’t cover this request; it will reset at 2026-12-01T00:00:00.000Z; ask the gateway operator for a higher one',
    ],
    [
      { ...budget, window: 'total', subject: { kind: 'account', id: 'a' } } as const,
      'insufficient quota: the budget of the account of this API key doesn’t cover this request; ask the gateway operator for a higher one',
    ],
    [
      { ...budget, kind: 'balance', subject: { kind: 'account', id: 'a' } } as const,
      'insufficient quota: the credit balance of the account of this API key doesn’t cover this request; top it up and retry',
    ],
  ])('%p', (refusal, words) => {
    const failure = refusalOf(refusal);
    expect([failure.kind, failure.message]).toEqual(['quota_exceeded', words]);
    expect(failure.details.retryAfterSeconds).toBeUndefined();
    expect(failure.message).toMatch(NOT_RETRIED);
  });

  test('has the statuses and types of contract 5', () => {
    const failure = new CallFailure('quota_exceeded', 'words');
    const { chat, messages } = CLIENT_PROTOCOLS;
    expect([chat.statusOf(failure), messages.statusOf(failure)]).toEqual([429, 429]);
    const { type, code } = JSON.parse(chat.renderError(failure, 'req_1')).error;
    expect([type, code]).toEqual(['insufficient_quota', 'rate_limit_exceeded']);
    expect(JSON.parse(messages.renderError(failure, 'req_1')).error.type).toBe('billing_error');
    expect(FAILURE_KINDS.quota_exceeded).toEqual({ origin: 'caller', shouldRetry: false });
  });
});

test('no refusal names an id', () => {
  for (const kind of ['requests', 'tokens', 'concurrency', 'budget', 'balance'] as const)
    expect(refusalOf(refused({ kind })).message).not.toContain('secret-name');
});
