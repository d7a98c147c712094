/** Tests the arithmetic of columns: heights, hit testing, and which labels are drawn. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { columnAt, labelledColumns, nearestSeries, type Series, seriesAt, spanOf, stackUp } from './stack.ts';

const series = (...values: (number | null)[][]): Series[] =>
  values.map((one, at) => ({ name: `s${at}`, color: 'red', values: one }));

describe('stackUp', () => {
  test('stacks each series on the previous ones', () => {
    expect(stackUp(series([1, 2], [3, 4]))).toEqual([
      [1, 2],
      [4, 6],
    ]);
  });
  test('an unmeasured column stays empty; a missing value has the height below it', () => {
    expect(stackUp(series([null, 2, null], [null, null, 5]))).toEqual([
      [null, 2, null],
      [null, 2, 5],
    ]);
  });
  test('the top edge is the column’s sum', () => {
    const columns = fc.integer({ min: 1, max: 9 });
    const value = fc.option(fc.integer({ min: 0, max: 1_000 }));
    fc.assert(
      fc.property(
        columns.chain((count) =>
          fc.array(fc.array(value, { minLength: count, maxLength: count }), { minLength: 1, maxLength: 6 }),
        ),
        (values) => {
          const top = stackUp(series(...values)).at(-1) ?? [];
          for (const [at, edge] of top.entries()) {
            expect(edge ?? 0).toBe(values.reduce((sum, one) => sum + (one[at] ?? 0), 0));
          }
        },
      ),
    );
  });
});

test('columnAt finds the column at any position, edges included', () => {
  expect([0, 9.9, 10, 39.9, 40].map((x) => columnAt(x, 40, 4))).toEqual([0, 0, 1, 3, 3]);
  expect([columnAt(-1, 40, 4), columnAt(41, 40, 4), columnAt(1, 0, 4), columnAt(1, 40, 0)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test('seriesAt finds the segment at a value and skips empty ones', () => {
  const stacked = stackUp(series([2], [0], [3]));
  expect([1, 2, 2.5, 5, 5.1].map((value) => seriesAt(stacked, 0, value))).toEqual([0, 0, 2, 2, null]);
});

test('nearestSeries skips series without a point', () => {
  expect(nearestSeries(series([null], [10], [14]), 0, 13)).toBe(2);
  expect(nearestSeries(series([null]), 0, 13)).toBeNull();
});

test('spanOf sorts its ends', () => {
  expect(spanOf(5, 2)).toEqual({ first: 2, last: 5 });
});

describe('labelledColumns', () => {
  const hours = (count: number, first = 0) => Array.from({ length: count }, (_, at) => (at + first) % 24 === 0);
  test('omits overlapping labels', () => {
    expect(labelledColumns(hours(4, 1), 400, 50)).toEqual([0, 1, 2, 3]);
    expect(labelledColumns(hours(24, 1), 300, 50)).toEqual([0, 4, 8, 12, 16, 20]);
    expect(labelledColumns([], 300, 50)).toEqual([]);
  });
  test('labels several days at their start', () => {
    expect(labelledColumns(hours(96, 20), 400, 50)).toEqual([4, 28, 52, 76]);
    expect(labelledColumns(hours(96, 20), 110, 50)).toEqual([4, 52]);
  });
});
