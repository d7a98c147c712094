/** Tests that the chart's series are the reply's sums, and how amounts are displayed. */
import { describe, expect, test } from 'bun:test';
import { slotsWith } from '../../lib/series-color.ts';
import { changeText, metricOf, type Sums, tileText, tokensOf, type UsageGroup, type UsageReply } from './metrics.ts';
import { drawnGroups, groupName, tokenSeries, usageSeries } from './usage-series.ts';

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
  amounts: [requests, null],
});
const reply = (groups: readonly UsageGroup[], changes: Partial<UsageReply> = {}): UsageReply => ({
  step: 'hour',
  time_zone: 'UTC',
  metric: 'requests',
  buckets: ['2026-11-21T00:00:00Z', '2026-11-21T01:00:00Z'],
  groups: [...groups],
  rest: null,
  others: null,
  total: NONE,
  totals: [7, null],
  kinds: null,
  before: null,
  filter_labels: [],
  forecast: null,
  ...changes,
});
const requests = metricOf('requests', 'p50');

describe('usageSeries', () => {
  test('in the order of the reply, with nothing where there was no call', () => {
    const series = usageSeries(reply([group('b', 3), group('a', 1)]), requests);
    expect(series.map(({ name, values }) => [name, ...values])).toEqual([
      ['b', 3, null],
      ['a', 1, null],
    ]);
    expect(series.map(({ text }) => [text(0), text(1)])).toEqual([
      ['3', 'no call'],
      ['1', 'no call'],
    ]);
  });
  test('two keys of one name have a colour each, and keep it when one is filtered out', () => {
    const key = (id: string, requests: number) => ({ ...group(id, requests, 'prod'), labels: ['prod'] });
    const both = reply([key('key_1', 3), key('key_2', 1)]);
    const slots = slotsWith(new Map(), drawnGroups(both));
    const [one, other] = usageSeries(both, requests, slots).map(({ color }) => color);
    expect(one).not.toBe(other);
    const alone = reply([key('key_2', 1)]);
    const later = slotsWith(slots, drawnGroups(alone));
    expect(usageSeries(alone, requests, later)[0]?.color).toBe(other as string);
  });
  test('groups without amounts of their own are in the others', () => {
    const drawn = reply([group('a', 5), { ...group('b', 2), amounts: null }], { others: [2, null] });
    const series = usageSeries(drawn, requests);
    expect(series).toHaveLength(2);
    expect(series.at(-1)).toMatchObject({ name: 'others', values: [2, null], color: 'var(--chart-rest)', group: null });
  });
  test('what has nothing of the metric is not drawn, nor are others that have nothing', () => {
    expect(usageSeries(reply([group('a', 5), group('b', 0)], { others: [0, null] }), requests)).toHaveLength(1);
  });
  test('costs are as tall as their dollars, and exact in words', () => {
    const cost = { ...group('a', 1), sums: sums({ cost_nano_usd: '1500000001' }), amounts: ['1500000001', null] };
    const [series] = usageSeries(reply([cost], { metric: 'cost' }), metricOf('cost', 'p50'));
    expect(series?.values[0]).toBeCloseTo(1.5);
    expect(series?.text(0)).toBe('$1.500000001');
  });
  test('a colour does not change when the amounts do', () => {
    const colorsOf = (a: number, b: number) =>
      new Map(usageSeries(reply([group('a', a), group('b', b)]), requests).map(({ name, color }) => [name, color]));
    expect(colorsOf(1, 2)).toEqual(new Map([...colorsOf(2, 1)].reverse()));
  });
  test('a colour that a group has elsewhere is its colour here', () => {
    const [series] = usageSeries(reply([group('a', 5)]), requests, new Map([['a', 6]]));
    expect(series?.color).toBe('var(--chart-7)');
  });
});

test('a group is called by its label, else its value, else none', () => {
  expect(
    groupName({ ...group('k1', 1, 'Production'), values: ['k1', 'gpt', null], labels: ['Production', null, null] }),
  ).toBe('Production · gpt · none');
});

test('kinds of tokens are disjoint, and those that nobody used are left out', () => {
  const none = [0, 0];
  const kinds = { input: [5, 0], cache_read: none, cache_write_5m: none, cache_write_1h: none };
  const tokens = reply([], { metric: 'tokens', kinds: { ...kinds, output: [2, 0], reasoning: [1, 0] } });
  expect(tokenSeries(tokens).map(({ name, values }) => [name, values[0]])).toEqual([
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
    expect(metricOf('cost', 'p50').text('1234567890')).toBe('$1.23456789');
  });
  test('a percentile without a call is said', () => {
    expect(metricOf('latency', 'p95').text(null)).toBe('no call');
    expect(tileText(metricOf('ttft', 'p95'), NONE)).toBe('–');
  });
  test('changes are against the time before', () => {
    expect(changeText(requests, sums({ requests: 3 }), sums({ requests: 2 }))).toBe('+50 %');
    expect(changeText(requests, sums({ requests: 1 }), sums({ requests: 2 }))).toBe('−50 %');
    expect(changeText(requests, sums({ requests: 1 }), NONE)).toBeNull();
    expect(changeText(requests, sums({ requests: 1 }), null)).toBeNull();
  });
});
