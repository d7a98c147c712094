/** Tests what is said of an attempt besides its bar. */
import { expect, test } from 'bun:test';
import { describeAttempt } from './attempt-facts.tsx';

const PLAIN = { provider: 'p', model: 'm', status: 200, error: null, duration_ms: 300 };

test('a plain attempt needs no words', () => {
  expect(describeAttempt({ ...PLAIN, ttfb_ms: 90, ttft_ms: 120, why: 'order', target: 'p/m' }, true)).toEqual([]);
});

test('of several attempts, each has its reason, pause and times', () => {
  const second = {
    ...PLAIN,
    why: 'fallback',
    target: 'main',
    wait_ms: 250,
    ttfb_ms: 90,
    ttft_ms: 120,
    credential: 'spare',
    format: 'messages',
    exchanges: 2,
    door: 'runtime',
    region: 'us-east-1',
    phase: 'head',
    billed: 'maybe',
    cost_nano_usd: '301000',
  } as const;
  expect(describeAttempt(second, false)).toEqual([
    'Before the first content',
    'Fallback',
    'Target main',
    'Paused 250 ms before',
    'First byte 90 ms',
    'First token 120 ms',
    'Credential spare',
    'Translated to messages',
    'Service runtime',
    'Region us-east-1',
    '2 exchanges',
    '$0.0003, maybe billed by the provider',
  ]);
});
