/** Tests the positions of a chart's parts: the scale's values, bars from the baseline, lines with gaps. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { layOutPlot, type PlotInput, scaleSteps } from './plot-layout.ts';

const given = (shape: PlotInput['shape'], ...values: (number | null)[][]): PlotInput => ({
  shape,
  series: values.map((one, at) => ({ name: `s${at}`, color: `c${at}`, values: one })),
  labels: (values[0] ?? []).map((_, at) => ({ short: `${at}`, full: `${at}`, startsDay: false })),
  axisText: String,
  isWhole: true,
  height: 132,
});

describe('scaleSteps', () => {
  test.each([
    [1.04, 228, 44, [0, 0.25, 0.5, 0.75, 1]],
    [104, 228, 44, [0, 25, 50, 75, 100]],
    [7, 100, 24, [0, 2, 4, 6]],
    [0.31, 100, 30, [0, 0.1, 0.2, 0.3]],
    [1, 0, 44, [0]],
  ])('up to %p on %p pixels, %p apart', (most, heightPx, apartPx, steps) => {
    expect(scaleSteps(most, heightPx, apartPx, false)).toEqual(steps);
  });

  test.each([
    [1.04, 64, 24, [0, 1]],
    [2.08, 64, 24, [0, 1, 2]],
    // Without the rule for counts the step would be 2.5.
    [9.36, 64, 16, [0, 5]],
    [104, 228, 44, [0, 25, 50, 75, 100]],
  ])('of a count up to %p on %p pixels, %p apart', (most, heightPx, apartPx, steps) => {
    expect(scaleSteps(most, heightPx, apartPx, true)).toEqual(steps);
  });

  test('lines keep their distance for any maximum, and counts have whole lines', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e15, noNaN: true }), fc.boolean(), (most, isWhole) => {
        const steps = scaleSteps(most, 200, 44, isWhole);
        expect(steps.at(-1)).toBeLessThanOrEqual(most * (1 + 1e-9));
        expect(steps.length).toBeLessThanOrEqual(5);
        expect(steps[0]).toBe(0);
        expect(isWhole && steps.some((step) => !Number.isInteger(step))).toBe(false);
      }),
    );
  });
});

describe('layOutPlot', () => {
  test('bars start at the baseline, and the highest edge is drawn first', () => {
    const { place, shapes } = layOutPlot(given('bars', [1, 0], [1, null]), 236);
    expect(place).toMatchObject({ left: 32, top: 8, width: 200, height: 100 });
    expect(shapes.map(({ color }) => color)).toEqual(['c1', 'c0']);
    // The highest of two calls reaches 1/1.04 of the height.
    expect(shapes[0]?.path).toBe('M50 108V12h64V108z');
    expect(shapes[1]?.path).toBe('M50 108V60h64V108z');
  });

  test('a line breaks at missing values', () => {
    const [line] = layOutPlot(given('lines', [...Array.from({ length: 40 }, () => 1), null, 1, 1]), 236).shapes;
    expect(line?.path.match(/M/g)).toHaveLength(2);
    expect(line?.path.match(/L/g)).toHaveLength(40);
  });

  test('an isolated point is marked', () => {
    const [line] = layOutPlot(given('lines', [...Array.from({ length: 50 }, () => null), 1, null]), 236).shapes;
    expect(line?.path).toContain('a1 1');
  });

  test('the last label isn’t clipped', () => {
    const labels = [0, 1].map((at) => ({ short: `Wednesday ${at} November`, full: '', startsDay: true }));
    const laid = layOutPlot({ ...given('bars', [1, 1]), labels }, 236).labels;
    // Twenty letters of 6.4 pixels, half of them right of the middle.
    expect(laid.map(({ x }) => x)).toEqual([82, 236 - 64]);
  });

  test('there is a scale without values', () => {
    const { shapes, scale } = layOutPlot(given('bars', [null, 0]), 236);
    expect(shapes.map(({ path }) => path)).toEqual(['']);
    expect(scale.map(({ text }) => text)).toEqual(['0', '1']);
  });
});
