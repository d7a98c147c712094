/** Owns drawing columns or lines on a canvas by uPlot: axes, colours, nothing that moves. The pointer is the chart's. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { BucketLabel } from './bucket-labels.ts';
import { labelledColumns, type Series, stackUp } from './stack.ts';
import { canvasColor } from './use-theme-name.ts';

export interface PlotGiven {
  readonly series: readonly Series[];
  readonly shape: 'bars' | 'lines';
  /** Under each column. */
  readonly labels: readonly BucketLabel[];
  readonly axisText: (value: number) => string;
  readonly height: number;
}

/** Where the columns are inside the element, in CSS pixels, and the value at the upper edge. */
export interface PlotPlace {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly most: number;
}

const FONT = '11px "Inter Variable", sans-serif';
const CHAR_PX = 6.4;
const LABEL_PX = 60;
const BAR_MAX_PX = 64;
/** Below, amounts stand closer to one another. */
const SMALL_PX = 160;

/** Draws into `element` and tells where, now and after each `resize`. */
export function drawPlot(
  element: HTMLElement,
  given: PlotGiven,
  width: number,
  onPlace: (place: PlotPlace) => void,
): uPlot {
  const columns = given.labels.length;
  const stacked = given.shape === 'bars' ? stackUp(given.series) : given.series.map(({ values }) => [...values]);
  // uPlot draws in order: the highest edge first, so that each lower one covers its foot.
  const order = given.shape === 'bars' ? [...stacked.keys()].reverse() : [...stacked.keys()];
  const ink = canvasColor('var(--ink-3)');
  const options: uPlot.Options = {
    width,
    height: given.height,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.5, columns - 0.5] },
      y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.04 : 1] },
    },
    axes: axesOf(given, ink),
    series: [{}, ...order.map((at) => seriesOf(given, at))],
    hooks: { draw: [(plot) => onPlace(placeOf(plot))] },
  };
  const xs = Array.from({ length: columns }, (_, at) => at);
  return new uPlot(options, [xs, ...order.map((at) => stacked[at] ?? [])], element);
}

function seriesOf(given: PlotGiven, at: number): uPlot.Series {
  const color = canvasColor(given.series[at]?.color ?? 'var(--chart-rest)');
  if (given.shape === 'lines')
    return { stroke: color, width: 1.75, points: { show: given.labels.length < 40, size: 4, fill: color } };
  const bars = uPlot.paths.bars?.({ size: [0.78, BAR_MAX_PX], align: 0 });
  return {
    fill: color,
    // A hair of the ground between pieces, so that neighbours part without colour.
    stroke: canvasColor('var(--panel)'),
    width: given.labels.length > 120 ? 0 : 1,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  };
}

function axesOf(given: PlotGiven, ink: string): uPlot.Axis[] {
  return [
    {
      stroke: ink,
      font: FONT,
      size: 24,
      gap: 6,
      grid: { show: false },
      ticks: { show: false },
      splits: (plot) =>
        labelledColumns(
          given.labels.map(({ startsDay }) => startsDay),
          plot.bbox.width / uPlot.pxRatio,
          LABEL_PX,
        ),
      values: (_plot, splits) => splits.map((at) => given.labels[at]?.short ?? ''),
    },
    {
      stroke: ink,
      font: FONT,
      gap: 6,
      space: given.height < SMALL_PX ? 24 : 44,
      size: (_plot, texts) => Math.ceil(Math.max(3, ...(texts ?? []).map((text) => text.length)) * CHAR_PX) + 12,
      grid: { stroke: canvasColor('var(--line)'), width: 1 },
      ticks: { show: false },
      values: (_plot, splits) => splits.map(given.axisText),
    },
  ];
}

function placeOf(plot: uPlot): PlotPlace {
  const ratio = uPlot.pxRatio;
  const { left, top, width, height } = plot.bbox;
  return {
    left: left / ratio,
    top: top / ratio,
    width: width / ratio,
    height: height / ratio,
    most: plot.scales.y?.max ?? 1,
  };
}
