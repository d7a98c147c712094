/** Tests usage-range.ts: buckets follow the account's time zone, without gap or overlap, and are not too many. */
import { expect, test } from 'bun:test';
import { cutRange, type UsageStep } from './usage-range.ts';

function cut(from: string, to: string, step: UsageStep | 'auto', timeZone: string) {
  return cutRange({ from, to, step }, timeZone);
}

const hoursOf = (buckets: readonly number[]) =>
  buckets.slice(1).map((at, index) => (at - (buckets[index] ?? 0)) / 3_600_000);

test.each([
  ['2025-03-01T10:00:00Z', '2025-03-01T13:00:00Z', 'minute', 180],
  ['2025-03-01T10:00:00Z', '2025-03-01T13:00:01Z', 'hour', 4],
  ['2025-03-01T10:00:00Z', '2025-03-08T10:00:00Z', 'hour', 168],
  ['2025-03-01T10:00:00Z', '2025-03-08T11:00:01Z', 'day', 8],
])('%s to %s is cut by the %s', (from, to, step, count) => {
  const range = cut(from, to, 'auto', 'UTC');
  expect([range.step, range.buckets.length]).toEqual([step as UsageStep, count]);
});

test('days are 23 and 25 hours long where clocks change', () => {
  expect(hoursOf(cut('2025-03-28T12:00:00Z', '2025-04-01T12:00:00Z', 'day', 'Europe/Berlin').buckets)).toEqual([
    24, 24, 23, 24,
  ]);
  expect(hoursOf(cut('2025-10-24T12:00:00Z', '2025-10-28T12:00:00Z', 'day', 'Europe/Berlin').buckets)).toEqual([
    24, 24, 25, 24,
  ]);
});

test('hours begin as the clocks of the zone show them', () => {
  const { buckets } = cut('2025-03-01T10:00:00Z', '2025-03-01T12:00:00Z', 'hour', 'Asia/Kathmandu');
  expect(buckets.map((at) => new Date(at).toISOString().slice(11, 16))).toEqual(['09:15', '10:15', '11:15']);
  // Half an hour is left over on the day on which Lord Howe goes back by half an hour.
  const lengths = hoursOf(cut('2025-04-04T13:00:00Z', '2025-04-07T13:00:00Z', 'hour', 'Australia/Lord_Howe').buckets);
  expect(lengths.filter((hours) => hours !== 1)).toEqual([0.5]);
});

test('too many buckets are refused with a remedy', () => {
  expect(cut('2025-01-01T00:00:00Z', '2025-02-01T06:00:00Z', 'hour', 'UTC').buckets.length).toBe(750);
  expect(() => cut('2025-01-01T00:00:00Z', '2025-02-01T06:00:01Z', 'hour', 'UTC')).toThrow(
    'choose a shorter range, or step=day',
  );
  expect(() => cut('2020-01-01T00:00:00Z', '2025-02-01T06:00:01Z', 'auto', 'UTC')).toThrow(
    /^the range has more than 750 days; choose a shorter range$/,
  );
  expect(() => cut('2025-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 'auto', 'UTC')).toThrow('expected a later time');
});
