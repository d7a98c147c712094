/** Renders the chart of the usage page: columns of the chosen metric, and the actions on a selected range. */

import { useMemo, useState } from 'react';
import { bucketLabels, spanTimes } from '../../charts/bucket-labels.ts';
import { ColumnChart } from '../../charts/column-chart.tsx';
import type { Slots } from '../../charts/series-colors.ts';
import type { Span } from '../../charts/stack.ts';
import { rangeText } from '../../filters/time-range.ts';
import { useAccount } from '../../lib/session.ts';
import { useColumnZone, useZone } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { metricOf, type UsageGroup, type UsageReply } from './metrics.ts';
import { filtersOf, groupByLabel, type UsageView } from './usage-query.ts';
import { shownSeries } from './usage-series.ts';

interface UsageChartProps {
  readonly reply: UsageReply;
  readonly view: UsageView;
  readonly slots: Slots;
  readonly onPick: (group: UsageGroup) => void;
}

export function UsageChart({ reply, view, slots, onPick }: UsageChartProps) {
  const [selected, setSelected] = useState<Span | null>(null);
  const metric = useMemo(() => metricOf(view.metric, view.percentile), [view.metric, view.percentile]);
  const isByKind = view.metric === 'tokens' && view.isByKind;
  const series = useMemo(() => shownSeries(reply, metric, isByKind, slots), [reply, metric, isByKind, slots]);
  const columnZone = useColumnZone(reply.step);
  const labels = useMemo(() => bucketLabels(reply.buckets, reply.step, columnZone), [reply, columnZone]);
  const dimensions = view.by.map((one) => groupByLabel(one).toLowerCase()).join(' and ');
  const part = isByKind ? 'kind' : dimensions;
  const times = selected === null ? null : spanTimes(reply.buckets, selected, reply.step, view.range.to);
  return (
    <Panel className="flex flex-col gap-3 p-4">
      <ColumnChart
        label={`${metric.word} by ${part}`}
        shape={metric.adds ? 'bars' : 'lines'}
        series={series}
        labels={labels}
        axisText={metric.axisText}
        isWhole={metric.isWhole}
        amountText={(at, column) => series[at]?.text(column) ?? ''}
        sumText={metric.adds ? (column) => metric.text(reply.totals[column] ?? null) : null}
        onPick={(at) => {
          const group = series[at]?.group ?? null;
          if (group !== null) onPick(group);
        }}
        selected={times === null ? null : selected}
        onSelect={setSelected}
      />
      {times === null ? (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm" aria-label="Series">
          {series.map(({ name, color, group }) => (
            <li key={name} className="flex min-w-0 items-center gap-1.5">
              <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
              {group === null ? (
                <span className="text-ink-2">{name}</span>
              ) : (
                <button
                  type="button"
                  onClick={() => onPick(group)}
                  className="min-h-[24px] max-w-60 truncate text-ink-2 hover:text-ink hover:underline"
                  title={`Filter by ${name}`}
                >
                  {name}
                </button>
              )}
            </li>
          ))}
        </ul>
      ) : (
        <Selection times={times} onClear={() => setSelected(null)} />
      )}
    </Panel>
  );
}

function Selection({ times, onClear }: { readonly times: { from: string; to: string }; readonly onClear: () => void }) {
  const [search, change] = useFilters();
  const account = useAccount();
  const zone = useZone();
  return (
    <div role="status" className="flex flex-wrap items-center gap-2">
      <span className="mr-1 font-medium">{rangeText(times, zone)}</span>
      {account.may('logs.read') && (
        <Link
          to="/app/logs/{-$request}"
          search={{ ...filtersOf(search), ...times }}
          className={buttonClasses('primary')}
        >
          Show requests
        </Link>
      )}
      <Button
        onClick={() => {
          onClear();
          change({ range: undefined, ...times });
        }}
      >
        Zoom in
      </Button>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
