/** Tests what a comparison of two versions concludes from its ratios. */
import { expect, test } from 'bun:test';
import { judgeRatios } from './compare.ts';

/** 40 ratios around `middle`, evenly spread over `middle` ± `spread`. */
const around = (middle: number, spread: number) =>
  Array.from({ length: 40 }, (_, at) => middle - spread + (2 * spread * at) / 39);

test.each([
  ['a version that costs a fifth more', around(1.2, 0.1), 'worse'],
  ['one that costs the same', around(1, 0.05), 'no worse'],
  ['one that costs less', around(0.8, 0.05), 'no worse'],
  ['one percent more than noise hides', around(1.01, 0.06), 'no worse'],
  ['ratios that are all over the place', around(1, 0.6), 'not measurable'],
] as const)('%s', (_, ratios, verdict) => {
  expect(judgeRatios(ratios).verdict).toBe(verdict);
});
