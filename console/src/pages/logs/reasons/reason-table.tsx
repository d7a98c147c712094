/** Renders why requests of the range failed: one row per reason, which leads to its requests. Loaded when shown. */
import { counted, wholeNumber } from '../../../lib/format.ts';
import { useReply } from '../../../lib/queries.ts';
import { exactTime, useClockZone } from '../../../lib/zone.ts';
import { When } from '../../../ui/amounts.tsx';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { Empty, SkeletonRows } from '../../../ui/page.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import type { LogQuery } from '../log-filters.ts';
import { REASON_TITLES, type ReasonGroup } from './reason-titles.ts';

/** Faults of providers or of the gateway. */
const FAULTS: ReadonlySet<ReasonGroup['kind']> = new Set([
  'provider_error',
  'no_target',
  'provider_credential',
  'cut',
  'ours',
]);

function toneOf(kind: ReasonGroup['kind']): Tone {
  if (FAULTS.has(kind)) return 'bad';
  return kind === 'client_closed' ? 'neutral' : 'attention';
}

const COLUMNS: readonly Column<ReasonGroup>[] = [
  {
    id: 'reason',
    head: 'Reason',
    cell: ({ kind, explanation }) => (
      <span className="flex min-w-0 items-center gap-2">
        <span className="max-sm:hidden">
          <Badge tone={toneOf(kind)}>{REASON_TITLES[kind]}</Badge>
        </span>
        <span className="max-w-56 truncate sm:max-w-72 sm:text-ink-2 lg:max-w-160" title={explanation.sentence}>
          {explanation.sentence}
        </span>
      </span>
    ),
  },
  {
    id: 'requests',
    head: 'Requests',
    align: 'right',
    width: 92,
    cell: ({ requests }) => wholeNumber(requests),
  },
  { id: 'first', head: 'First', width: 108, wideOnly: true, cell: ({ first_at: at }) => <When at={at} /> },
  { id: 'last', head: 'Last', width: 108, wideOnly: true, cell: ({ last_at: at }) => <When at={at} /> },
];

interface ReasonTableProps {
  readonly account: string;
  readonly query: LogQuery;
  readonly onOpen: (group: ReasonGroup) => void;
}

export default function ReasonTable({ account, query, onOpen }: ReasonTableProps) {
  const zone = useClockZone();
  const { data, error, refetch } = useReply('GET /accounts/{account}/reasons', { path: { account }, query });
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows rows={8} />;
  if (data.groups.length === 0) {
    return (
      <Empty title="No failed requests">
        No request of this period that matches the filters failed or was rejected.
      </Empty>
    );
  }
  return (
    <>
      <p role="status" className="text-ink-2">
        {counted(data.requests, 'failed request')} in {counted(data.groups.length + data.other_groups, 'group')}
        {data.other_groups > 0 && `; the largest ${data.groups.length} are listed`}
        {data.counted_from !== null &&
          `, counted since ${exactTime(data.counted_from, zone)}: choose a shorter range for the rest`}
        . Numbers in a reason are those of its newest request.
      </p>
      <Table
        label="Reasons of failed requests"
        columns={COLUMNS}
        rows={data.groups}
        rowKey={({ group }) => group}
        onOpen={onOpen}
      />
    </>
  );
}
