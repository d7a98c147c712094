/**
 * Renders the tooltip of a column: each segment with its amount, and the sum. Hidden from screen readers, because the
 * chart announces the same text.
 */
import { classNames } from '../ui/class-names.ts';
import type { Series } from './stack.ts';

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

export function ChartTip({ title, series, column, chosen, amountText, sumText, x, width }: ChartTipProps) {
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
