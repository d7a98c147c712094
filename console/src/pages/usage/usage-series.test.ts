/** Tests that the chart's series are the reply's sums, and how amounts are displayed. */
import { describe, expect, test } from 'bun:test';
import { slotsWith } from '../../charts/series-colors.ts';
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
  test('keeps the reply’s order, with gaps where there was no request', () => {
    const series = usageSeries(reply([group('b', 3), group('a', 1)]), requests);
    expect(series.map(({ name, values }) => [name, ...values])).toEqual([
      ['b', 3, null],
      ['a', 1, null],
    ]);
    expect(series.map(({ text }) => [text(0), text(1)])).toEqual([
      ['3', 'No data'],
      ['1', 'No data'],
    ]);
  });
  test('two keys with one name have separate colors and keep them when filtered', () => {
    const key = (id: string, requests: number) => ({ ...group(id, requests, 'prod'), labels: ['prod'] });
    const both = reply([key('key_1', 3), key('key_2', 1)]);
    const slots = slotsWith(new Map(), drawnGroups(both));
    const [one, other] = usageSeries(both, requests, slots).map(({ color }) => color);
    expect(one).not.toBe(other);
    const alone = reply([key('key_2', 1)]);
    const later = slotsWith(slots, drawnGroups(alone));
    expect(usageSeries(alone, requests, later)[0]?.color).toBe(other as string);
  });
  test('combines groups without amounts', () => {
    const drawn = reply([group('a', 5), { ...group('b', 2), amounts: null }], { others: [2, null] });
    const series = usageSeries(drawn, requests);
    expect(series).toHaveLength(2);
    expect(series.at(-1)).toMatchObject({ name: 'Others', values: [2, null], color: 'var(--chart-rest)', group: null });
  });
  test('omits empty groups and empty others', () => {
    expect(usageSeries(reply([group('a', 5), group('b', 0)], { others: [0, null] }), requests)).toHaveLength(1);
  });
  test('cost columns have approximate heights and exact text', () => {
    const cost = { ...group('a', 1), sums: sums({ cost_nano_usd: '1500000001' }), amounts: ['1500000001', null] };
    const [series] = usageSeries(reply([cost], { metric: 'cost' }), metricOf('cost', 'p50'));
    expect(series?.values[0]).toBeCloseTo(1.5);
    expect(series?.text(0)).toBe('$1.500000001');
  });
  test('colors don’t depend on amounts', () => {
    const colorsOf = (a: number, b: number) =>
      new Map(usageSeries(reply([group('a', a), group('b', b)]), requests).map(({ name, color }) => [name, color]));
    expect(colorsOf(1, 2)).toEqual(new Map([...colorsOf(2, 1)].reverse()));
  });
  test('keeps a group’s color from other pages', () => {
    const [series] = usageSeries(reply([group('a', 5)]), requests, new Map([['a', 6]]));
    expect(series?.color).toBe('var(--chart-7)');
  });
});

test('names a group by its label, value or “None”', () => {
  expect(
    groupName({ ...group('k1', 1, 'Production'), values: ['k1', 'gpt', null], labels: ['Production', null, null] }),
  ).toBe('Production · gpt · None');
});

test('token types are disjoint, and unused ones are omitted', () => {
  const none = [0, 0];
  const kinds = { input: [5, 0], cache_read: none, cache_write_5m: none, cache_write_1h: none };
  const tokens = reply([], { metric: 'tokens', kinds: { ...kinds, output: [2, 0], reasoning: [1, 0] } });
  expect(tokenSeries(tokens).map(({ name, values }) => [name, values[0]])).toEqual([
    ['Input', 5],
    ['Output (without reasoning)', 1],
    ['Reasoning', 1],
  ]);
});

describe('amounts', () => {
  test('tokens are the sum of all types; reasoning is part of output', () => {
    const each = { input: 1, cache_read: 2, cache_write_5m: 4, cache_write_1h: 8, output: 16, reasoning: 7 };
    expect(tokensOf(sums(each))).toBe(31);
  });
  test('costs are exact as text', () => {
    expect(metricOf('cost', 'p50').text('1234567890')).toBe('$1.23456789');
  });
  test('a percentile without a request has no data', () => {
    expect(metricOf('latency', 'p95').text(null)).toBe('No data');
    expect(tileText(metricOf('ttft', 'p95'), NONE)).toBe('–');
  });
  test('changes are relative to the previous period', () => {
    expect(changeText(requests, sums({ requests: 3 }), sums({ requests: 2 }))).toBe('+50%');
    expect(changeText(requests, sums({ requests: 1 }), sums({ requests: 2 }))).toBe('−50%');
    expect(changeText(requests, sums({ requests: 1 }), NONE)).toBeNull();
    expect(changeText(requests, sums({ requests: 1 }), null)).toBeNull();
  });
});
