/** Tests the text for the days of a key's usage. */
import { expect, test } from 'bun:test';
import { dayWords } from './key-days.ts';

test('a day in words; what is no day stays a text', () => {
  expect(dayWords('2026-11-02')).toBe('2 Nov');
  expect(dayWords('someday')).toBe('someday');
});
