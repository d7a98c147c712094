/** Tests the text for the days of a key's usage. */
import { expect, test } from 'bun:test';
import { dayWords } from './key-days.ts';

test('formats a day and leaves other text unchanged', () => {
  expect(dayWords('2026-11-02')).toBe('Nov 2');
  expect(dayWords('someday')).toBe('someday');
});
