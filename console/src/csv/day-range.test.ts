/** Tests ranges of days in the account's time zone, across ends of months and years and clock changes. */
import { expect, test } from 'bun:test';
import { monthRange, rangeInstants } from './day-range.ts';

const NEW_YORK = 'America/New_York';

test('a month spans its first to last day, across a year change', () => {
  const february = { first: '2026-02-01', last: '2026-02-28' };
  expect(monthRange(new Date('2026-02-14T12:00:00Z'), 0, NEW_YORK)).toEqual(february);
  const december = { first: '2025-12-01', last: '2025-12-31' };
  expect(monthRange(new Date('2026-01-31T12:00:00Z'), 1, NEW_YORK)).toEqual(december);
});

test('“This month” is the month in the zone', () => {
  const turn = new Date('2026-12-01T03:00:00Z');
  expect(monthRange(turn, 0, NEW_YORK).first).toBe('2026-11-01');
  expect(monthRange(turn, 0, 'Asia/Tokyo').first).toBe('2026-12-01');
});

test('a month with a clock change starts and ends at midnight in the zone', () => {
  const november = { first: '2026-11-01', last: '2026-11-30' };
  const instants = { from: '2026-11-01T04:00:00.000Z', to: '2026-12-01T05:00:00.000Z' };
  expect(rangeInstants(november, NEW_YORK)).toEqual(instants);
});

test('includes the last day at its length in the zone', () => {
  const day = { first: '2026-03-08', last: '2026-03-08' };
  const instants = { from: '2026-03-08T05:00:00.000Z', to: '2026-03-09T04:00:00.000Z' };
  expect(rangeInstants(day, NEW_YORK)).toEqual(instants);
});

test('rejects missing or unordered days', () => {
  expect(rangeInstants({ first: '2026-11-02', last: '2026-11-01' }, NEW_YORK)).toBeNull();
  expect(rangeInstants({ first: '', last: '2026-11-01' }, NEW_YORK)).toBeNull();
});
