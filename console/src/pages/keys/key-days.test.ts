/** Holds the days of a key's usage in words and as a range. */
import { expect, test } from 'bun:test';
import { dayInstants, dayWords } from './key-days.ts';

test('a day in words, and as a range of the logs', () => {
  expect(dayWords('2026-11-02')).toBe('2 Nov');
  expect(dayInstants('2026-12-31')).toEqual({ from: '2026-12-31T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' });
});

test('what is no day stays a text', () => {
  expect(dayWords('someday')).toBe('someday');
  expect(dayInstants('someday')).toEqual({});
});
