/** Tests the format of counts and durations. */
import { expect, test } from 'bun:test';
import { counted, duration } from './format.ts';

test('counts singular and plural', () => {
  expect([0, 1, 2, 1_234].map((count) => counted(count, 'call'))).toEqual([
    '0 calls',
    '1 call',
    '2 calls',
    '1,234 calls',
  ]);
  expect(counted(2, 'entry', 'entries')).toBe('2 entries');
});

test('durations have at most two units, and never sixty of one', () => {
  const shown = [834, 9_999, 83_400, 839_600, 3_599_999, 7_500_000, 100_000_000].map(duration);
  expect(shown).toEqual(['834 ms', '10.00 s', '1 min 23 s', '13 min 59 s', '59 min 59 s', '2 h 5 min', '1 d 3 h']);
});
