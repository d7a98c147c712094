/** Tests that bucket labels follow the account's time zone, and where a range of buckets ends. */
import { describe, expect, test } from 'bun:test';
import { bucketLabels, spanTimes } from './bucket-labels.ts';

describe('bucketLabels', () => {
  test('hours show the date where a day starts in the zone', () => {
    const labels = bucketLabels(['2026-11-20T22:00:00Z', '2026-11-20T23:00:00Z'], 'hour', 'Europe/Berlin');
    expect(labels.map(({ short }) => short)).toEqual(['23:00', 'Nov 21']);
    expect(labels.map(({ startsDay }) => startsDay)).toEqual([false, true]);
    expect(labels[0]?.full).toBe('Nov 20, 23:00');
  });
  test('days are labeled by the zone’s date', () => {
    expect(bucketLabels(['2026-11-20T23:00:00Z'], 'day', 'Europe/Berlin')[0]).toEqual({
      short: 'Nov 21',
      full: 'Sat, Nov 21, 2026',
      startsDay: true,
    });
  });
});

describe('spanTimes', () => {
  const buckets = ['2026-11-20T00:00:00Z', '2026-11-20T01:00:00Z', '2026-11-20T02:00:00Z'];
  test('ends where the next bucket starts', () => {
    expect(spanTimes(buckets, { first: 0, last: 1 }, 'hour', '2026-11-20T02:30:00Z')).toEqual({
      from: '2026-11-20T00:00:00Z',
      to: '2026-11-20T02:00:00Z',
    });
  });
  test('the last one ends with the range', () => {
    expect(spanTimes(buckets, { first: 2, last: 2 }, 'hour', '2026-11-20T02:30:00Z')?.to).toBe(
      '2026-11-20T02:30:00.000Z',
    );
  });
  test('is null for columns that are gone after a reload', () => {
    expect(spanTimes(buckets, { first: 2, last: 7 }, 'hour', '2026-11-20T02:30:00Z')).toBeNull();
  });
});
