/** Tests the figures of the home page: their text, their change, and the bars with their labels. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  barValue,
  bucketEnd,
  bucketLabel,
  change,
  coarser,
  figure,
  readMetric,
  readRange,
  type Sums,
  scaleTop,
} from './overview.ts';

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
const cost = (nano: string): Sums => ({ ...NONE, cost_nano_usd: nano });

describe('figures', () => {
  test('never show 0.00 for a positive amount', () => {
    expect(figure(cost('132000'), 'cost')).toBe('$0.0001');
    expect(figure(cost('1'), 'cost')).toBe('<$0.0001');
    expect(figure({ ...NONE, requests: 12_345 }, 'requests')).toBe('12.3K');
    expect(figure(NONE, 'ttfb')).toBe('–');
  });
  test('an invalid range becomes the default', () => {
    expect(readRange('9y')).toBe('7d');
    expect(readRange('24h')).toBe('24h');
  });
  test('charts spend by default, or requests if nothing was spent', () => {
    expect(readMetric(undefined, cost('1'))).toBe('cost');
    expect(readMetric('nonsense', NONE)).toBe('requests');
    expect(readMetric('errors', NONE)).toBe('errors');
  });
});

describe('change from the previous period', () => {
  test.each([
    ['112', '100', '+12%'],
    ['97', '100', '−3%'],
    ['100', '100', '±0%'],
    ['1400', '100', '×14'],
    ['0', '100', '−100%'],
  ])('%s after %s is %s', (now, before, words) => expect(change(cost(now), cost(before), 'cost')).toBe(words));
  test('is null without previous data', () => {
    expect(change(cost('5'), cost('0'), 'cost')).toBeNull();
    expect(change({ ...NONE, ttfb_p50_ms: 10 }, NONE, 'ttfb')).toBeNull();
  });
  test('keeps digits of large amounts', () => {
    expect(change(cost('9007199254740993000'), cost('9007199254740993000'), 'cost')).toBe('±0%');
  });
});

describe('bars', () => {
  test('merging keeps the sum and the maximum number of bars', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 200 }), fc.integer({ min: 1, max: 60 }), (values, count) => {
        const bars = coarser(values, count, 'requests');
        expect(bars.length).toBeLessThanOrEqual(count);
        expect(bars.reduce((sum, bar) => sum + bar, 0)).toBe(values.reduce((sum, value) => sum + value, 0));
      }),
    );
  });
  test('averages times and ignores hours without requests', () => {
    expect(coarser([100, null, 300, null], 1, 'ttfb')).toEqual([200]);
  });
  test('a scale ends at a round number above the highest bar', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (most) => {
        const top = scaleTop(most);
        expect(top).toBeGreaterThanOrEqual(most * (1 - 1e-9));
        expect(top).toBeLessThanOrEqual(most * 2.5 * (1 + 1e-9));
      }),
    );
    expect(scaleTop(0)).toBe(1);
  });
  test('an hour without requests costs nothing and has no time to first token', () => {
    expect(barValue(null, 'cost')).toBe(0);
    expect(barValue(null, 'ttfb')).toBeNull();
  });
});

describe('buckets', () => {
  const days = ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', '2026-10-26T23:00:00Z'];
  test('are labeled in the account’s zone across a clock change', () => {
    expect(days.map((_, at) => bucketLabel(days, at, 'Europe/Berlin'))).toEqual(['Oct 25', 'Oct 26', 'Oct 27']);
  });
  test('hours show their time', () => {
    const hours = ['2026-11-21T13:00:00Z', '2026-11-21T14:00:00Z'];
    expect(bucketLabel(hours, 1, 'UTC')).toBe('Nov 21, 14:00');
  });
  test('end where the next starts', () => {
    expect(bucketEnd(days, 0)).toBe('2026-10-25T23:00:00Z');
    expect(bucketEnd(days, 2)).toBe('2026-10-27T23:00:00.000Z');
  });
});
