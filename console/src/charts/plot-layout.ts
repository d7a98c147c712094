/** Computes the layout of a column chart in CSS pixels: plot, scale, labels, shapes. */
import type { BucketLabel } from './bucket-labels.ts';
import { labelledColumns, type Series, stackUp } from './stack.ts';

export interface PlotInput {
  readonly series: readonly Series[];
  readonly shape: 'bars' | 'lines';
  /** One per column. */
  readonly labels: readonly BucketLabel[];
  readonly axisText: (value: number) => string;
  /** True for counts: the scale has no fractions. */
  readonly isWhole: boolean;
  readonly height: number;
}

/** The plot's rectangle inside the element, and the value at its upper edge. */
export interface PlotPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly most: number;
}

export interface PlotShape {
  readonly color: string;
  /** An SVG path. */
  readonly path: string;
}

export interface PlotLayout {
  readonly place: PlotPlace;
  /** From the bottom to the top. */
  readonly scale: readonly { readonly y: number; readonly text: string }[];
  readonly labels: readonly { readonly x: number; readonly text: string }[];
  /** In drawing order. */
  readonly shapes: readonly PlotShape[];
}

const TOP_PX = 8;
const RIGHT_PX = 4;
const FOOT_PX = 24;
const CHAR_PX = 6.4;
const LABEL_PX = 60;
const BAR_PART = 0.78;
const BAR_MAX_PX = 64;
/** Below this height, scale values are spaced more closely. */
const SMALL_PX = 160;
/** Share of the highest column left free above it. */
const HEADROOM = 0.04;
const POINTS_BELOW = 40;

/** `width`: the whole element, with scale and labels. */
export function layOutPlot(given: PlotInput, width: number): PlotLayout {
  const { series, shape, labels, axisText, isWhole } = given;
  const stacked = shape === 'bars' ? stackUp(series) : series.map(({ values }) => values);
  const highest = Math.max(0, ...stacked.flat().map((value) => value ?? 0));
  const most = highest > 0 ? highest * (1 + HEADROOM) : 1;
  const height = Math.max(0, given.height - TOP_PX - FOOT_PX);
  const apartPx = given.height < SMALL_PX ? 24 : 44;
  const steps = scaleSteps(most, height, apartPx, isWhole).map((value) => ({
    value,
    text: axisText(value),
  }));
  const left = Math.ceil(Math.max(3, ...steps.map(({ text }) => text.length)) * CHAR_PX) + 12;
  const place = { left, top: TOP_PX, width: Math.max(0, width - left - RIGHT_PX), height, most };
  const columnPx = labels.length === 0 ? 0 : place.width / labels.length;
  const draw = shape === 'bars' ? barsPath : linesPath;
  const shapes = stacked.map((values, at) => ({
    color: series[at]?.color ?? 'var(--chart-rest)',
    path: draw(values, place, columnPx),
  }));
  const days = labels.map(({ startsDay }) => startsDay);
  return {
    place,
    scale: steps.map(({ value, text }) => ({ y: heightAt(value, place), text })),
    labels: labelledColumns(days, place.width, LABEL_PX).map((at) => {
      const text = labels[at]?.short ?? '';
      // The last label is moved left so that it is not clipped.
      return { x: Math.min(left + (at + 0.5) * columnPx, width - Math.ceil((text.length * CHAR_PX) / 2)), text };
    }),
    // Highest edge first, so that each lower shape covers the foot of the one before.
    shapes: shape === 'bars' ? shapes.reverse() : shapes,
  };
}

/** Round values from 0 to `most`, with lines at least `apartPx` apart; whole numbers for counts. */
export function scaleSteps(most: number, heightPx: number, apartPx: number, isWhole: boolean): number[] {
  if (heightPx <= 0) return [0];
  const least = Math.max(isWhole ? 1 : 0, (most * apartPx) / heightPx);
  const power = 10 ** Math.floor(Math.log10(least));
  const steps = [1, 2, 2.5, 5].map((factor) => power * factor);
  const step = steps.find((one) => one >= least && !(isWhole && one % 1 !== 0)) ?? power * 10;
  // Removes float noise such as 0.30000000000000004.
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

function heightAt(value: number, { top, height, most }: PlotPlace): number {
  return Math.round(top + height * (1 - value / most));
}

function barsPath(values: readonly (number | null)[], place: PlotPlace, columnPx: number): string {
  const wide = Math.max(1, Math.round(Math.min(columnPx * BAR_PART, BAR_MAX_PX)));
  const foot = place.top + place.height;
  return values
    .map((value, at) => {
      const y = heightAt(value ?? 0, place);
      if (y >= foot) return '';
      const x = Math.round(place.left + (at + 0.5) * columnPx - wide / 2);
      return `M${x} ${foot}V${y}h${wide}V${foot}z`;
    })
    .join('');
}

/** The path breaks where a value is null. Points are marked when there are few, and when a point is isolated. */
function linesPath(values: readonly (number | null)[], place: PlotPlace, columnPx: number): string {
  const isMeasured = (at: number) => typeof values[at] === 'number';
  return values
    .map((value, at) => {
      if (value === null) return '';
      const point = `${(place.left + (at + 0.5) * columnPx).toFixed(1)} ${heightAt(value, place)}`;
      const isAlone = !isMeasured(at - 1) && !isMeasured(at + 1);
      const mark = values.length < POINTS_BELOW || isAlone ? `m-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0M${point}` : '';
      return `${isMeasured(at - 1) ? 'L' : 'M'}${point}${mark}`;
    })
    .join('');
}
