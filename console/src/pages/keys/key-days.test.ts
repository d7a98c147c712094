/** Tests the text for the days of a key's usage. */
import { expect, test } from 'bun:test';
import { dayText } from './day-bars.tsx';

test('formats a day and leaves other text unchanged', () => {
  expect(dayText('2026-11-02')).toBe('Nov 2');
  expect(dayText('someday')).toBe('someday');
});
