/** Owns where everything of a chart of columns stands, in CSS pixels: the plot, its scale, its labels, its shapes. Draws nothing. */
import type { BucketLabel } from './bucket-labels.ts';
import { labelledColumns, type Series, stackUp } from './stack.ts';

export interface PlotGiven {
  readonly series: readonly Series[];
  readonly shape: 'bars' | 'lines';
  /** Under each column. */
  readonly labels: readonly BucketLabel[];
  readonly axisText: (value: number) => string;
  /** Counts: the scale has no fractions. */
  readonly isWhole: boolean;
  readonly height: number;
}

/** Where the columns are inside the element, and the value at the upper edge. */
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
  /** In the order in which they are drawn. */
  readonly shapes: readonly PlotShape[];
}

const TOP_PX = 8;
const RIGHT_PX = 4;
const FOOT_PX = 24;
const CHAR_PX = 6.4;
const LABEL_PX = 60;
const BAR_PART = 0.78;
const BAR_MAX_PX = 64;
/** Below, amounts stand closer to one another. */
const SMALL_PX = 160;
/** So much of the highest column is free above it. */
const HEADROOM = 0.04;
const POINTS_BELOW = 40;

/** `width`: of the whole element, with its scale and labels. */
export function layOutPlot(given: PlotGiven, width: number): PlotLayout {
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
      // The last one is moved to where it is seen whole.
      return { x: Math.min(left + (at + 0.5) * columnPx, width - Math.ceil((text.length * CHAR_PX) / 2)), text };
    }),
    // The highest edge first, so that each lower one covers its foot.
    shapes: shape === 'bars' ? shapes.reverse() : shapes,
  };
}

/** Round values from 0 to `most`, whose lines are at least `apartPx` apart; whole ones of what is counted. */
export function scaleSteps(most: number, heightPx: number, apartPx: number, isWhole: boolean): number[] {
  if (heightPx <= 0) return [0];
  const least = Math.max(isWhole ? 1 : 0, (most * apartPx) / heightPx);
  const power = 10 ** Math.floor(Math.log10(least));
  const steps = [1, 2, 2.5, 5].map((factor) => power * factor);
  const step = steps.find((one) => one >= least && !(isWhole && one % 1 !== 0)) ?? power * 10;
  // Without the noise of floats: 0.30000000000000004 is no round value.
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

/** Breaks where nothing was measured; every point of a few is marked, and one that stands alone. */
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
