/** Shows that the chart’s series are the reply’s sums, and how amounts are said. */
import { describe, expect, test } from 'bun:test';
import { changeText, metricOf, type Sums, tileText, tokensOf, type UsageGroup, type UsageReply } from './metrics.ts';
import { groupName, tokenSeries, usageSeries } from './usage-series.ts';

const NONE: Sums = {
  requests: 0,
  errors: 0,
  cost_nano_usd: '0',
  unpriced: 0,
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
  cache_savings_nano_usd: '0',
  latency_p50_ms: null,
  latency_p95_ms: null,
  ttfb_p50_ms: null,
  ttfb_p95_ms: null,
};
const sums = (given: Partial<Sums>): Sums => ({ ...NONE, ...given });
const group = (name: string | null, requests: number, label: string | null = null): UsageGroup => ({
  values: [name],
  labels: [label],
  sums: sums({ requests }),
  buckets: [sums({ requests }), null],
});
const reply = (groups: readonly UsageGroup[], rest: UsageGroup | null = null): UsageReply => ({
  step: 'hour',
  time_zone: 'UTC',
  buckets: ['2026-11-21T00:00:00Z', '2026-11-21T01:00:00Z'],
  groups: [...groups],
  rest,
  total: sums({ input: 5, output: 2, reasoning: 1 }),
  totals: [sums({ input: 5, output: 2, reasoning: 1 }), null],
  before: null,
  filter_labels: [],
  forecast: null,
});
const requests = metricOf('requests', 'p50');

describe('usageSeries', () => {
  test('the greatest first, with nothing where there was no call', () => {
    const series = usageSeries(reply([group('a', 1), group('b', 3)]), requests);
    expect(series.map(({ name, values }) => [name, ...values])).toEqual([
      ['b', 3, null],
      ['a', 1, null],
    ]);
  });
  test('a ninth group and the reply’s rest are put together', () => {
    const groups = Array.from({ length: 9 }, (_, at) => group(`m${at}`, 10 - at));
    const series = usageSeries(reply(groups, group(null, 7)), requests);
    expect(series).toHaveLength(9);
    expect(series.at(-1)).toMatchObject({ name: 'others', values: [2 + 7, null], color: 'var(--chart-rest)' });
  });
  test('percentiles are never put together', () => {
    const timed = Array.from({ length: 10 }, (_, at) => ({
      ...group(`m${at}`, 1),
      sums: sums({ requests: 1, latency_p50_ms: 5 }),
    }));
    expect(usageSeries(reply(timed), metricOf('latency', 'p50'))).toHaveLength(8);
  });
  test('a colour does not change when the amounts do', () => {
    const colorsOf = (a: number, b: number) =>
      new Map(usageSeries(reply([group('a', a), group('b', b)]), requests).map(({ name, color }) => [name, color]));
    expect(colorsOf(1, 2)).toEqual(new Map([...colorsOf(2, 1)].reverse()));
  });
});

test('a group is called by its label, else its value, else none', () => {
  expect(
    groupName({ ...group('k1', 1, 'Production'), values: ['k1', 'gpt', null], labels: ['Production', null, null] }),
  ).toBe('Production · gpt · none');
});

test('kinds of tokens are disjoint, and those that nobody used are left out', () => {
  expect(tokenSeries(reply([])).map(({ name, values }) => [name, values[0]])).toEqual([
    ['Input', 5],
    ['Output, without reasoning', 1],
    ['Reasoning', 1],
  ]);
});

describe('amounts', () => {
  test('tokens are the sum of all kinds; reasoning is a part of output', () => {
    const each = { input: 1, cache_read: 2, cache_write_5m: 4, cache_write_1h: 8, output: 16, reasoning: 7 };
    expect(tokensOf(sums(each))).toBe(31);
  });
  test('costs are exact in words', () => {
    expect(metricOf('cost', 'p50').text(sums({ cost_nano_usd: '1234567890' }))).toBe('$1.23456789');
  });
  test('a percentile without a call is said', () => {
    expect(metricOf('latency', 'p95').text(NONE)).toBe('no call');
    expect(tileText(metricOf('ttft', 'p95'), NONE)).toBe('–');
  });
  test('changes are against the time before', () => {
    expect(changeText(requests, sums({ requests: 3 }), sums({ requests: 2 }))).toBe('+50 %');
    expect(changeText(requests, sums({ requests: 1 }), sums({ requests: 2 }))).toBe('−50 %');
    expect(changeText(requests, sums({ requests: 1 }), NONE)).toBeNull();
    expect(changeText(requests, sums({ requests: 1 }), null)).toBeNull();
  });
});
