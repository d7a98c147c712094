/**
 * Renders a column chart over time with its tooltip, and handles pointer, drag selection and keyboard navigation to
 * every point. The page shows the same numbers in a table.
 */
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { classNames } from '../ui/class-names.ts';
import type { BucketLabel } from './bucket-labels.ts';
import { layOutPlot, type PlotInput, type PlotLayout } from './plot-layout.ts';
import { columnAt, nearestSeries, type Series, type Span, seriesAt, spanOf, stackUp } from './stack.ts';

interface ColumnChartProps {
  /** For example "Cost by model". */
  readonly label: string;
  readonly shape: 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly labels: readonly BucketLabel[];
  readonly axisText: (value: number) => string;
  /** True for counts: the scale has no fractions. */
  readonly isWhole: boolean;
  readonly amountText: (series: number, column: number) => string;
  /** Total of a column; null when the series do not add up. */
  readonly sumText: ((column: number) => string) | null;
  /** Called on a click on a segment, or Enter on it. */
  readonly onPick?: (series: number) => void;
  readonly selected: Span | null;
  readonly onSelect: (span: Span | null) => void;
  readonly height?: number;
}

const DRAG_MIN_PX = 4;

export function ColumnChart({
  label,
  shape,
  series,
  labels,
  axisText,
  isWhole,
  amountText,
  sumText,
  onPick,
  selected,
  onSelect,
  height = 260,
}: ColumnChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const layout = useMemo(
    () => (width === null ? null : layOutPlot({ series, shape, labels, axisText, isWhole, height }, width)),
    [series, shape, labels, axisText, isWhole, height, width],
  );
  const place = layout?.place ?? null;
  const [column, setColumn] = useState<number | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const press = useRef<{ readonly column: number; readonly x: number; dragged: boolean } | null>(null);
  const anchor = useRef<number | null>(null);
  const count = labels.length;

  function locate(event: PointerEvent<HTMLElement>): { column: number | null; piece: number | null; x: number } {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - box.left;
    const at = columnAt(Math.max(0, Math.min(box.width, x)), box.width, count);
    if (at === null || place === null) return { column: null, piece: null, x };
    const value = (1 - (event.clientY - box.top) / box.height) * place.most;
    const piece = shape === 'bars' ? seriesAt(stackUp(series), at, value) : nearestSeries(series, at, value);
    return { column: at, piece, x };
  }

  function onPointerDown(event: PointerEvent<HTMLElement>): void {
    const { column: at, x } = locate(event);
    if (event.button !== 0 || at === null) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    press.current = { column: at, x, dragged: false };
  }
  function onPointerMove(event: PointerEvent<HTMLElement>): void {
    const { column: at, piece, x } = locate(event);
    setColumn(at);
    setChosen(piece);
    const begun = press.current;
    if (begun === null || at === null || (!begun.dragged && Math.abs(x - begun.x) < DRAG_MIN_PX)) return;
    begun.dragged = true;
    onSelect(spanOf(begun.column, at));
  }
  function onPointerUp(event: PointerEvent<HTMLElement>): void {
    const begun = press.current;
    press.current = null;
    if (begun === null || begun.dragged) return;
    const { piece } = locate(event);
    if (selected !== null) onSelect(null);
    else if (piece !== null) onPick?.(piece);
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    const at = column ?? 0;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: count - 1 }[
      event.key
    ];
    if (to !== undefined) {
      const next = Math.max(0, Math.min(count - 1, column === null ? 0 : to));
      if (event.shiftKey) {
        anchor.current ??= at;
        onSelect(spanOf(anchor.current, next));
      } else anchor.current = null;
      setColumn(next);
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      const step = event.key === 'ArrowUp' ? 1 : -1;
      setChosen((known) => (known === null ? 0 : (known + step + series.length) % series.length));
    } else if (event.key === 'Enter' && chosen !== null) onPick?.(chosen);
    else if (event.key === 'Escape' && selected !== null) onSelect(null);
    else return;
    event.preventDefault();
  }

  const visible = column !== null && column < count ? column : null;
  const columnPx = place === null || count === 0 ? 0 : place.width / count;
  return (
    <div ref={frame} className="relative min-w-0" style={{ height }}>
      {layout !== null && <Plot shape={shape} layout={layout} columns={count} />}
      {place !== null && count > 0 && (
        <div
          role="slider"
          tabIndex={0}
          aria-label={`${label}. Left and right arrows move between columns, up and down between series. Enter filters. Shift and arrows select a range.`}
          aria-valuemin={0}
          aria-valuemax={count - 1}
          aria-valuenow={visible ?? 0}
          aria-valuetext={columnText(visible ?? 0)}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerLeave={() => setColumn(null)}
          onBlur={() => setColumn(null)}
          onKeyDown={onKeyDown}
          className="absolute cursor-crosshair touch-pan-y"
          style={{ left: place.left, top: place.top, width: place.width, height: place.height }}
        >
          {selected !== null && (
            <div
              className="absolute inset-y-0 border-x border-accent bg-accent/10"
              style={{ left: selected.first * columnPx, width: (selected.last - selected.first + 1) * columnPx }}
            />
          )}
          {visible !== null && (
            <div
              className="absolute inset-y-0 bg-ink/6"
              style={{ left: visible * columnPx, width: Math.max(1, columnPx) }}
            />
          )}
        </div>
      )}
      {place !== null && visible !== null && (
        <ChartTip
          title={labels[visible]?.full ?? ''}
          series={series}
          column={visible}
          chosen={chosen}
          amountText={amountText}
          sumText={sumText?.(visible) ?? null}
          x={place.left + (visible + 0.5) * columnPx}
          width={place.left + place.width}
        />
      )}
    </div>
  );

  function columnText(at: number): string {
    const pieces = series
      .map((one, index) => ({ one, index }))
      .filter(({ one }) => (one.values[at] ?? 0) !== 0)
      .sort((one, other) => Number(other.index === chosen) - Number(one.index === chosen))
      .map(({ one, index }) => `${one.name} ${amountText(index, at)}`);
    const sum = sumText === null || pieces.length < 2 ? '' : `, total ${sumText(at)}`;
    return `${labels[at]?.full ?? ''}: ${pieces.length === 0 ? 'no requests' : pieces.join(', ')}${sum}`;
  }
}

interface ChartTipProps {
  readonly title: string;
  readonly series: readonly Series[];
  readonly column: number;
  /** The segment under the pointer. */
  readonly chosen: number | null;
  readonly amountText: (series: number, column: number) => string;
  /** Null when the series do not add up. */
  readonly sumText: string | null;
  /** Pixels: the middle of the column, and the width of the plot. */
  readonly x: number;
  readonly width: number;
}

const TIP_PX = 232;

function ChartTip({ title, series, column, chosen, amountText, sumText, x, width }: ChartTipProps) {
  const shown = series.map((one, at) => ({ ...one, at })).filter(({ values }) => (values[column] ?? 0) !== 0);
  const left = x + 16 + TIP_PX > width ? Math.max(0, x - 16 - TIP_PX) : x + 16;
  return (
    <div
      aria-hidden="true"
      className="pointer-events-none absolute top-1 z-20 rounded-md border border-line bg-raised p-2.5 text-sm shadow-float"
      style={{ left, width: Math.min(TIP_PX, width) }}
    >
      <p className="mb-1.5 font-medium">{title}</p>
      {shown.length === 0 && <p className="text-ink-2">No requests</p>}
      {shown.reverse().map(({ name, color, at }) => (
        <p key={name} className={classNames('flex items-center gap-2', at === chosen && 'font-medium')}>
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
          <span className="min-w-0 flex-1 truncate text-ink-2">{name}</span>
          <span className="figures">{amountText(at, column)}</span>
        </p>
      ))}
      {sumText !== null && shown.length > 1 && (
        <p className="mt-1.5 flex justify-between border-t border-line pt-1.5 font-medium">
          <span>Total</span>
          <span className="figures">{sumText}</span>
        </p>
      )}
    </div>
  );
}

interface PlotProps {
  readonly shape: PlotInput['shape'];
  readonly layout: PlotLayout;
  readonly columns: number;
}

/** With more columns, the gaps between segments would take most of the width. */
const PARTED_MAX = 120;

function Plot({ shape, layout, columns }: PlotProps) {
  const { place, scale, labels, shapes } = layout;
  return (
    // The shape of a path is a style property too: with a transition on styles, bars would animate from old to new.
    <svg
      aria-hidden="true"
      className="absolute inset-0 size-full overflow-hidden fill-ink-3 text-xs [&_path]:transition-none"
    >
      {scale.map(({ y, text }) => (
        <g key={y}>
          <path d={`M${place.left} ${y + 0.5}h${place.width}`} stroke="var(--line)" />
          <text x={place.left - 6} y={y} textAnchor="end" dominantBaseline="central">
            {text}
          </text>
        </g>
      ))}
      {labels.map(({ x, text }) => (
        <text key={x} x={x} y={place.top + place.height + 6} textAnchor="middle" dominantBaseline="hanging">
          {text}
        </text>
      ))}
      {shapes.map(({ color, path }, at) =>
        shape === 'bars' ? (
          // A thin stroke in the background color separates neighbors without relying on color.
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of drawing is what tells them apart
          <path key={at} d={path} fill={color} stroke="var(--panel)" strokeWidth={columns > PARTED_MAX ? 0 : 1} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of drawing is what tells them apart
          <path key={at} d={path} fill="none" stroke={color} strokeWidth={1.75} strokeLinejoin="round" />
        ),
      )}
    </svg>
  );
}

/** Pixels; null until measured, which happens before the first paint. */
function useWidth(element: RefObject<HTMLElement | null>): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    setWidth(measured.clientWidth);
    const observer = new ResizeObserver(() => setWidth(measured.clientWidth));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
