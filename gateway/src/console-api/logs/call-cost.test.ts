/** Tests logs.ts: cost lines with tier and markup add up to the cost, and none are invented. */
import { expect, test } from 'bun:test';
import { parsePriceVersion } from '../../billing/price.ts';
import { chargedNanoUsd, costNanoUsd } from '../../billing/price-book.ts';
import type { CallEntry } from '../../store/ports/usage.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { callCost } from './logs.ts';

const USAGE = { input: 200_001, cache_read: 500, cache_write_5m: 7, cache_write_1h: 3, output: 90, reasoning: 30 };
const entry = (kind: CallEntry['kind'], amount: bigint): CallEntry => ({
  seq: 1,
  kind,
  amount,
  released: 0n,
  atMs: 1,
  hash: '',
});

test.each([
  'config@1_0.1_1.25_2_10_10',
  'config@1_0.1_1.25_2_10_12;>200000=2_0.2_2.5_4_15_15',
  'config@1_0.1_1.25_2_10_10;+50000ppm',
])('the lines of %s come to the cost', (price_version) => {
  const cost = costNanoUsd(USAGE, parsePriceVersion(price_version));
  const call = sampleRecord('req_1', { usage: USAGE, price_version, cost_nano_usd: cost.toString() });
  const entries = [entry('hold', 5n), entry('extend', 6n), entry('post', cost - 4n), entry('absorb', 4n)];
  const shown = callCost({ call, entries });
  const pico = shown?.lines.reduce((sum, line) => sum + BigInt(line.cost_pico_usd), 0n) ?? 0n;
  expect((pico + 500n) / 1_000n).toBe(cost);
  expect(shown?.lines.find(({ kind }) => kind === 'output')?.count).toBe(60);
  expect(shown).toMatchObject({ held_nano_usd: '11', settled_nano_usd: `${cost - 4n}`, written_off_nano_usd: '4' });
});

test('runs of models at prices of their own have lines of their own, which come to the cost', () => {
  const [cheap, dear] = ['config@1_0.1_1.25_2_10_10;+50000ppm', 'config@5_0.5_6.25_10_50_50;+50000ppm'];
  const none = { cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, reasoning: 0 };
  const parts = [
    { ...none, input: 100, output: 7, price_version: cheap },
    { ...none, model: 'dear', input: 30, output: 3, price_version: dear },
  ];
  const usage = { ...none, input: 130, output: 10, extras: { parts } };
  const cost = chargedNanoUsd(usage, parsePriceVersion(cheap), parsePriceVersion);
  const shown = callCost({
    call: sampleRecord('req_1', { usage, price_version: cheap, cost_nano_usd: String(cost) }),
    entries: [],
  });
  const pico = shown?.lines.reduce((sum, line) => sum + BigInt(line.cost_pico_usd), 0n) ?? 0n;
  expect((pico + 500n) / 1_000n).toBe(cost);
  const inputs = shown?.lines.filter(({ kind }) => kind === 'input').map((line) => [line.count, line.pico_usd_each]);
  expect(inputs).toEqual([
    [100, '1000000'],
    [30, '5000000'],
  ]);
});

test('requests of tools have a line each, in their own unit', () => {
  const usage = { ...USAGE, extras: { server_tools: { web_search: 3, web_fetch: 1 } } };
  const price_version = 'config@1_0.1_1.25_2_10_10;web_fetch=0/1000;web_search=10/1000';
  const shown = callCost({ call: sampleRecord('req_1', { usage, price_version }), entries: [] });
  const ofTools = shown?.lines.filter(({ unit }) => unit === 'request');
  expect(ofTools).toEqual([
    { kind: 'web_search', unit: 'request', count: 3, pico_usd_each: '10000000000', cost_pico_usd: '30000000000' },
    { kind: 'web_fetch', unit: 'request', count: 1, pico_usd_each: '0', cost_pico_usd: '0' },
  ]);
});

test('a call without a price has no cost, and one that was not charged by its tokens no lines', () => {
  expect(
    callCost({ call: sampleRecord('req_1', { price_version: null, cost_nano_usd: null }), entries: [] }),
  ).toBeNull();
  const price_version = 'config@1_0.1_1.25_2_10_10';
  for (const changes of [
    { usage_source: 'void' },
    { usage_source: 'cache' },
    { price_version: 'catalogue 2026' },
  ] as const) {
    const call = sampleRecord('req_1', { price_version, cost_nano_usd: '0', ...changes });
    expect(callCost({ call, entries: [] })?.lines).toEqual([]);
  }
});
