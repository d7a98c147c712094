/** Tests that the reply to a call refused by a limit tells both SDK families whether, and when, to retry. */
import { expect, test } from 'bun:test';
import { refusalOf } from '../admission/limit-messages.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import type { LimitRefusal } from '../store/ports/limits.ts';
import { failureReply } from './deliver/reply.ts';

const RATE: LimitRefusal = {
  kind: 'requests',
  subject: { kind: 'key', id: 'k' },
  limit: 2,
  use: { used: 2, cap: 2, needed: 1 },
  retryAfterMs: 29_001,
  window: null,
  windowEndMs: null,
};
const DAY_END_MS = Date.parse('2026-11-21');
const BUDGET: LimitRefusal = {
  ...RATE,
  kind: 'budget',
  limit: null,
  retryAfterMs: null,
  window: 'day',
  windowEndMs: DAY_END_MS,
};

async function replyOf(refusal: LimitRefusal, name: 'chat' | 'messages') {
  const reply = failureReply(refusalOf(refusal), CLIENT_PROTOCOLS[name], 'req_1');
  const { error }: { readonly error: object } = JSON.parse(await reply.text());
  const { headers, status } = reply;
  return { status, error, retry: headers.get('x-should-retry'), afterSeconds: headers.get('retry-after') };
}

test('vector 57: a quota 429 has x-should-retry: false, and no wait that would put a client to sleep', async () => {
  for (const refusal of [BUDGET, { ...BUDGET, kind: 'balance' } as const]) {
    expect(await replyOf(refusal, 'chat')).toMatchObject({
      status: 429,
      error: { type: 'insufficient_quota', code: 'rate_limit_exceeded' },
      retry: 'false',
      afterSeconds: null,
    });
    expect(await replyOf(refusal, 'messages')).toMatchObject({
      status: 429,
      error: { type: 'billing_error' },
      retry: 'false',
      afterSeconds: null,
    });
  }
});

test('a rate 429 has its exact wait in whole seconds and leaves the retry to the client', async () => {
  expect(await replyOf(RATE, 'chat')).toMatchObject({
    status: 429,
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    retry: null,
    afterSeconds: '30',
  });
  expect(await replyOf(RATE, 'messages')).toMatchObject({
    status: 429,
    error: { type: 'rate_limit_error' },
    retry: null,
    afterSeconds: '30',
  });
});

test('a rate 429 that waiting a minute does not lift suggests no retry', async () => {
  expect(await replyOf({ ...RATE, retryAfterMs: 300_000 }, 'messages')).toMatchObject({
    retry: 'false',
    afterSeconds: '60',
  });
  expect(await replyOf({ ...RATE, retryAfterMs: null }, 'chat')).toMatchObject({ retry: 'false', afterSeconds: null });
});
