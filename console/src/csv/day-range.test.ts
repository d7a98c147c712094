/** Holds ranges of days, over the ends of months and years. */
import { expect, test } from 'bun:test';
import { monthRange, rangeInstants } from './day-range.ts';

test('a month is its first day to its last, over the turn of the year', () => {
  expect(monthRange(new Date(2026, 1, 14), 0)).toEqual({ first: '2026-02-01', last: '2026-02-28' });
  expect(monthRange(new Date(2026, 0, 31), 1)).toEqual({ first: '2025-12-01', last: '2025-12-31' });
});

test('the last day is in the range', () => {
  const instants = rangeInstants({ first: '2026-11-01', last: '2026-11-01' });
  expect(instants).toEqual({
    from: new Date(2026, 10, 1).toISOString(),
    to: new Date(2026, 10, 2).toISOString(),
  });
});

test('days out of order, or none, are no range', () => {
  expect(rangeInstants({ first: '2026-11-02', last: '2026-11-01' })).toBeNull();
  expect(rangeInstants({ first: '', last: '2026-11-01' })).toBeNull();
});
