/** Tests the limit headers: the header names and values of both formats. */

import { expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { limitHeaders } from './reply.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00.000Z');
const left = (resetAfterMs: number) => ({ limit: 60, remaining: 7, resetMs: NOW_MS + resetAfterMs });

test('chat states a duration, messages a time', () => {
  const rateLimitStatus = { requests: left(360_000), tokens: left(1_500) };
  expect(limitHeaders(rateLimitStatus, CLIENT_PROTOCOLS.chat, NOW_MS, NOW_MS)).toEqual({
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '7',
    'x-ratelimit-reset-requests': '6m0s',
    'x-ratelimit-limit-tokens': '60',
    'x-ratelimit-remaining-tokens': '7',
    'x-ratelimit-reset-tokens': '2s',
  });
  expect(limitHeaders(rateLimitStatus, CLIENT_PROTOCOLS.messages, NOW_MS, NOW_MS)).toEqual({
    'anthropic-ratelimit-requests-limit': '60',
    'anthropic-ratelimit-requests-remaining': '7',
    'anthropic-ratelimit-requests-reset': '2026-11-20T12:06:00Z',
    'anthropic-ratelimit-tokens-limit': '60',
    'anthropic-ratelimit-tokens-remaining': '7',
    'anthropic-ratelimit-tokens-reset': '2026-11-20T12:00:02Z',
  });
});

test('times follow the clock of the clients', () => {
  const rateLimitStatus = { requests: left(360_000), tokens: null };
  const shownMs = NOW_MS - 7_200_000;
  expect(limitHeaders(rateLimitStatus, CLIENT_PROTOCOLS.chat, NOW_MS, shownMs)['x-ratelimit-reset-requests']).toBe(
    '6m0s',
  );
  expect(
    limitHeaders(rateLimitStatus, CLIENT_PROTOCOLS.messages, NOW_MS, shownMs)['anthropic-ratelimit-requests-reset'],
  ).toBe('2026-11-20T10:06:00Z');
});

test('a unit without a limit has no headers', () => {
  expect(limitHeaders({ requests: null, tokens: null }, CLIENT_PROTOCOLS.chat, NOW_MS, NOW_MS)).toEqual({});
  expect(
    Object.keys(limitHeaders({ requests: null, tokens: left(0) }, CLIENT_PROTOCOLS.messages, NOW_MS, NOW_MS)),
  ).toEqual([
    'anthropic-ratelimit-tokens-limit',
    'anthropic-ratelimit-tokens-remaining',
    'anthropic-ratelimit-tokens-reset',
  ]);
});

test.each([
  [-5, '0s'],
  [0, '0s'],
  [1, '1ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [59_001, '1m0s'],
  [60_000, '1m0s'],
  [61_000, '1m1s'],
  [3_600_000, '1h0m0s'],
  [90_061_000, '25h1m1s'],
])('a span of %i ms is %s', (spanMs, text) => {
  expect(
    limitHeaders({ requests: left(spanMs), tokens: null }, CLIENT_PROTOCOLS.chat, NOW_MS, NOW_MS)[
      'x-ratelimit-reset-requests'
    ],
  ).toBe(text);
});
