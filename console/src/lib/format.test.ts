/** Tests the format of counts. */
import { expect, test } from 'bun:test';
import { counted } from './format.ts';

test('counts singular and plural', () => {
  expect([0, 1, 2, 1_234].map((count) => counted(count, 'call'))).toEqual([
    '0 calls',
    '1 call',
    '2 calls',
    '1,234 calls',
  ]);
  expect(counted(2, 'entry', 'entries')).toBe('2 entries');
});
