/** Renders the histogram above the list: calls and failures over time. Dragging over it narrows the range. */
import { useMemo, useState } from 'react';
import { bucketLabels, type Step } from '../../charts/bucket-labels.ts';
import { ColumnChart } from '../../charts/column-chart.tsx';
import type { Series, Span } from '../../charts/stack.ts';
import { rangeText } from '../../filters/time-range.ts';
import { counted, shortNumber, wholeNumber } from '../../lib/format.ts';
import { useColumnZone, useZone } from '../../lib/zone.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import type { LogsReply } from './use-call-list.ts';

type Histogram = NonNullable<LogsReply['histogram']>;

const DAY_MS = 86_400_000;

/** Requires at least one bar. */
export default function LogHistogram({ histogram }: { readonly histogram: Histogram }) {
  const [, change] = useFilters();
  const zone = useZone();
  const [selected, setSelected] = useState<Span | null>(null);
  const buckets = useMemo(() => histogram.bars.map(({ at }) => at), [histogram]);
  const step: Step = histogram.step_ms >= DAY_MS ? 'day' : 'minute';
  const columnZone = useColumnZone(step);
  const labels = useMemo(() => bucketLabels(buckets, step, columnZone), [buckets, step, columnZone]);
  const series = useMemo(
    (): readonly Series[] => [
      {
        name: 'Successful',
        color: 'var(--chart-1)',
        values: histogram.bars.map(({ requests, errors }) => requests - errors),
      },
      { name: 'Errors', color: 'var(--red)', values: histogram.bars.map(({ errors }) => errors) },
    ],
    [histogram],
  );
  const times = selected === null ? null : barTimes(histogram, selected);
  const all = histogram.bars.reduce((sum, { requests }) => sum + requests, 0);
  const errors = histogram.bars.reduce((sum, one) => sum + one.errors, 0);
  return (
    <Panel className="flex flex-col gap-2 px-4 py-3">
      <div className="flex min-h-8 flex-wrap items-center justify-between gap-2">
        {times === null ? (
          <p className="text-ink-2">
            <span className="figures font-medium text-ink">{counted(all, 'request')}</span>,{' '}
            <span className={errors > 0 ? 'figures font-medium text-red' : 'figures'}>{counted(errors, 'error')}</span>
          </p>
        ) : (
          <p role="status" className="flex flex-wrap items-center gap-2">
            <span className="mr-1 font-medium">{rangeText(times, zone)}</span>
            <Button
              kind="primary"
              onClick={() => {
                setSelected(null);
                change({ range: undefined, ...times });
              }}
            >
              Show requests
            </Button>
            <Button kind="quiet" onClick={() => setSelected(null)}>
              Clear
            </Button>
          </p>
        )}
      </div>
      <ColumnChart
        label="Requests over time"
        shape="bars"
        series={series}
        labels={labels}
        axisText={shortNumber}
        isWhole
        amountText={(at, column) => wholeNumber(series[at]?.values[column] ?? 0)}
        sumText={(column) => wholeNumber(histogram.bars[column]?.requests ?? 0)}
        selected={times === null ? null : selected}
        onSelect={setSelected}
        height={96}
      />
    </Panel>
  );
}

/** From the start of the first bar to the end of the last; null when they are gone after a reload. */
function barTimes({ bars, step_ms: stepMs }: Histogram, { first, last }: Span): { from: string; to: string } | null {
  const from = bars[first]?.at;
  const begin = bars[last]?.at;
  if (from === undefined || begin === undefined) return null;
  // Days differ in length.
  return { from, to: bars[last + 1]?.at ?? new Date(Date.parse(begin) + stepMs).toISOString() };
}
