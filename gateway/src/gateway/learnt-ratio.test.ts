/** Checks that the ratio moves towards what upstream counts, within its bounds. */
import { expect, test } from 'bun:test';
import { LearntRatio } from './learnt-ratio.ts';

test('an unknown model has four bytes to the token', () => {
  expect(new LearntRatio().tokensIn('m', 9)).toBe(3);
});

test('answers teach their own model, and short ones nothing', () => {
  const ratio = new LearntRatio();
  ratio.learn('m', 100, 15);
  expect(ratio.tokensIn('m', 4_000)).toBe(1_000);
  for (let i = 0; i < 200; i++) ratio.learn('m', 2_000, 1_000);
  expect(ratio.tokensIn('m', 4_000)).toBeGreaterThan(1_950);
  expect(ratio.tokensIn('other', 4_000)).toBe(1_000);
});

test('no number of upstream’s takes it out of its bounds', () => {
  const ratio = new LearntRatio();
  for (let i = 0; i < 500; i++) ratio.learn('m', 1e12, 16);
  expect(ratio.tokensIn('m', 8_000)).toBeGreaterThanOrEqual(1_000);
  for (let i = 0; i < 500; i++) ratio.learn('m', 1, 1e9);
  expect(ratio.tokensIn('m', 8_000)).toBeLessThanOrEqual(8_000);
});
