/** Renders the numbers under the chart, by group or over time: exact, with their sums. */
import { useMemo } from 'react';
import { bucketLabels } from '../../charts/bucket-labels.ts';
import type { Slots } from '../../charts/series-colors.ts';
import { share, shortNumber, wholeNumber } from '../../lib/format.ts';
import { useColumnZone } from '../../lib/zone.ts';
import { Money } from '../../ui/amounts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import {
  heightIn,
  type Metric,
  metricOf,
  NO_DATA,
  type Sums,
  TOKEN_KINDS,
  type UsageGroup,
  type UsageReply,
} from './metrics.ts';
import { groupByLabel, type UsageView } from './usage-query.ts';
import { groupName, shownSeries, usageSeries } from './usage-series.ts';

interface Row {
  readonly name: string;
  readonly color: string | null;
  readonly group: UsageGroup | null;
  readonly sums: Sums;
}

interface GroupTableProps {
  readonly reply: UsageReply;
  readonly view: UsageView;
  readonly slots: Slots;
  readonly onPick: (group: UsageGroup) => void;
}

export function GroupTable({ reply, view, slots, onPick }: GroupTableProps) {
  const metric = metricOf(view.metric, view.percentile);
  const colors = new Map(usageSeries(reply, metric, slots).map(({ group, color }) => [group, color]));
  const rows: Row[] = reply.groups.map((group) => ({
    name: groupName(group),
    color: colors.get(group) ?? null,
    group,
    sums: group.sums,
  }));
  if (reply.rest !== null) rows.push({ name: 'Others', color: null, group: null, sums: reply.rest });
  const total: Row = { name: 'Total', color: null, group: null, sums: reply.total };
  return (
    <Table
      key={metric.name}
      label="Usage by group"
      columns={groupColumns(view, metric, reply.total)}
      rows={rows}
      rowKey={(row) => `${row.group?.values.join('\n') ?? '\n\n'}`}
      onOpen={(row) => row.group !== null && onPick(row.group)}
      sorting={{ column: metric.name, descending: true }}
      totals={total}
    />
  );
}

function groupColumns(view: UsageView, metric: Metric, total: Sums): readonly Column<Row>[] {
  const tokens = TOKEN_KINDS.filter(([kind]) => total[kind] > 0);
  const ms = (at: number | null) => (at === null ? '–' : wholeNumber(Math.round(at)));
  const whole = heightIn(metric, total) ?? 0;
  return [
    {
      id: 'name',
      head: view.by.map(groupByLabel).join(' · '),
      sortBy: ({ name }) => name,
      cell: ({ name, color }) => (
        <span className="flex items-center gap-2 max-md:max-w-28 md:max-w-48 md:min-w-36">
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color ?? 'transparent' }} />
          <span className="truncate" title={name}>
            {name}
          </span>
        </span>
      ),
    },
    ...(metric.adds
      ? [
          {
            id: 'share',
            head: `${metric.word} share`,
            align: 'right',
            wideOnly: true,
            cell: ({ sums }) => share(heightIn(metric, sums) ?? 0, whole),
          } satisfies Column<Row>,
        ]
      : []),
    {
      id: 'cost',
      head: 'Cost (USD)',
      align: 'right',
      sortBy: ({ sums }) => BigInt(sums.cost_nano_usd),
      cell: ({ sums }) => <Cost sums={sums} />,
    },
    {
      id: 'requests',
      head: 'Requests',
      align: 'right',
      sortBy: ({ sums }) => sums.requests,
      cell: ({ sums }) => wholeNumber(sums.requests),
    },
    {
      id: 'errors',
      head: 'Errors',
      align: 'right',
      sortBy: ({ sums }) => sums.errors,
      cell: ({ sums }) => (
        <span title={share(sums.errors, sums.requests)} className={sums.errors > 0 ? 'text-red' : 'text-ink-3'}>
          {wholeNumber(sums.errors)}
        </span>
      ),
    },
    ...tokens.map(
      ([kind, word]): Column<Row> => ({
        id: kind,
        head: HEADS[kind] ?? word,
        align: 'right',
        sortBy: ({ sums }) => sums[kind],
        cell: ({ sums }) => <span title={wholeNumber(sums[kind])}>{shortNumber(sums[kind])}</span>,
      }),
    ),
    {
      id: 'latency',
      head: 'Duration p50 (ms)',
      align: 'right',
      sortBy: ({ sums }) => sums.latency_p50_ms ?? -1,
      cell: ({ sums }) => ms(sums.latency_p50_ms),
    },
    {
      id: 'p95',
      head: 'Duration p95 (ms)',
      align: 'right',
      sortBy: ({ sums }) => sums.latency_p95_ms ?? -1,
      cell: ({ sums }) => ms(sums.latency_p95_ms),
    },
    {
      id: 'ttft',
      head: 'First token p50 (ms)',
      align: 'right',
      sortBy: ({ sums }) => sums.ttfb_p50_ms ?? -1,
      cell: ({ sums }) => ms(sums.ttfb_p50_ms),
    },
    {
      id: 'cache_savings',
      head: 'Cache savings (USD)',
      align: 'right',
      sortBy: ({ sums }) => BigInt(sums.cache_savings_nano_usd),
      cell: ({ sums }) => <Money nanoUsd={sums.cache_savings_nano_usd} />,
    },
  ];
}

/** Shorter than the labels of the chart. */
const HEADS: Readonly<Record<string, string>> = {
  input: 'Input tokens',
  cache_write_5m: 'Cache write',
  cache_write_1h: 'Cache write (1 h)',
  reasoning: 'Reasoning',
};

/** Shows the number of unpriced calls, which are not counted as free. */
function Cost({ sums }: { readonly sums: Sums }) {
  return (
    <span className="inline-flex items-center justify-end gap-1.5">
      {sums.unpriced > 0 && (
        <span className="text-sm text-amber" title="Requests without a price: counted, not charged">
          {wholeNumber(sums.unpriced)} unpriced
        </span>
      )}
      <Money nanoUsd={sums.cost_nano_usd} />
    </span>
  );
}

interface TimeRow {
  readonly at: string;
  readonly label: string;
  readonly column: number;
}

/** The chart as a table: one row per column. */
export function TimeTable({ reply, view }: { readonly reply: UsageReply; readonly view: UsageView }) {
  const metric = useMemo(() => metricOf(view.metric, view.percentile), [view.metric, view.percentile]);
  const isByKind = view.metric === 'tokens' && view.isByKind;
  const series = useMemo(() => shownSeries(reply, metric, isByKind), [reply, metric, isByKind]);
  const zone = useColumnZone(reply.step);
  const labels = useMemo(() => bucketLabels(reply.buckets, reply.step, zone), [reply, zone]);
  const rows = reply.buckets.map((at, column): TimeRow => ({ at, column, label: labels[column]?.full ?? at }));
  const columns: Column<TimeRow>[] = [
    { id: 'at', head: 'Time', sortBy: ({ at }) => at, cell: ({ label }) => label },
    {
      id: 'all',
      head: metric.adds ? `${metric.word} (total)` : metric.word,
      align: 'right',
      sortBy: ({ column }) => metric.height(reply.totals[column] ?? null) ?? 0,
      cell: ({ column }) => <Quiet text={metric.text(reply.totals[column] ?? null)} />,
    },
    ...series.map(
      (one, at): Column<TimeRow> => ({
        id: `s${at}`,
        head: one.name,
        align: 'right',
        sortBy: ({ column }) => one.values[column] ?? 0,
        cell: ({ column }) => <Quiet text={one.values[column] == null ? NO_DATA : one.text(column)} />,
      }),
    ),
  ];
  return <Table label={`${metric.word} over time`} columns={columns} rows={rows} rowKey={({ at }) => at} />;
}

function Quiet({ text }: { readonly text: string }) {
  return text === NO_DATA ? <span className="text-ink-3">–</span> : text;
}
