/** Tests the arithmetic on samples. */
import { expect, test } from 'bun:test';
import { median, percentile } from './percentile.ts';

test('the percentile is the sample of the nearest rank, in any order of arrival', () => {
  const samples = Array.from({ length: 200 }, (_, at) => 200 - at);
  expect([percentile(samples, 0.5), percentile(samples, 0.99), percentile(samples, 1)]).toEqual([100, 198, 200]);
  expect(percentile([7], 0.99)).toBe(7);
  expect(percentile([], 0.5)).toBeNull();
});

test('the median of an even count is the mean of the middle two', () => {
  expect([median([3, 1, 2]), median([10, 2, 4, 1]), median([])]).toEqual([2, 3, null]);
});
