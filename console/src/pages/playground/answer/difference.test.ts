/** Tests how the figures of two answers are compared. */
import { expect, test } from 'bun:test';
import { costDifferenceText, differenceText } from './difference.ts';

test.each([
  [37, 100, '−63%'],
  [112, 100, '+12%'],
  [100.2, 100, '±0%'],
  [0, 100, '−100%'],
  [5, 0, null],
  [null, 3, null],
  [3, null, null],
] as const)('%p instead of %p is %p', (now, original, text) => {
  expect(differenceText(now, original)).toBe(text);
});

test('costs are compared as amounts', () => {
  expect(costDifferenceText('36000', '72000')).toBe('−50%');
  expect(costDifferenceText(null, '72000')).toBeNull();
});
