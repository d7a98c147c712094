/** Renders the saved view that the user pinned: the first requests that it lists, and their number. Loaded with a pin. */
import { useMemo } from 'react';
import { spanWords } from '../../filters/span-words.ts';
import { CALENDAR_LABELS, rangeText, readRange } from '../../filters/time-range.ts';
import { counted } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useNow } from '../../lib/timers.ts';
import { useZone } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useNavigate } from '../../route/route.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Section, SkeletonRows } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { listQuery, logQuery } from '../logs/log-filters.ts';
import { columnsOf, tableColumns } from '../logs/views/call-columns.tsx';
import { addressOfView } from '../logs/views/saved-view.ts';
import type { Overview } from './overview.ts';

const ROWS = 5;
const REFRESH_MS = 30_000;

interface PinnedViewProps {
  readonly account: string;
  readonly view: NonNullable<Overview['pinned_view']>;
}

export default function PinnedView({ account, view }: PinnedViewProps) {
  const navigate = useNavigate();
  const zone = useZone();
  const search = useMemo(() => addressOfView(view), [view]);
  const range = readRange(search, '24h', useNow(), zone);
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/logs',
    { path: { account }, query: { ...listQuery(search, logQuery(search, range)), limit: ROWS } },
    { everyMs: REFRESH_MS, keepsPrevious: true },
  );
  // The order is that of the view. A row opens its request, so that ids are left out, and with them their font.
  const columns = useMemo(
    () =>
      tableColumns(
        columnsOf(search.columns).filter((name) => name !== 'id'),
        search.columns !== undefined,
      ).map(({ sorts: _, ...column }) => column),
    [search],
  );
  const span =
    range.calendar !== null
      ? CALENDAR_LABELS[range.calendar].toLowerCase()
      : range.preset === null
        ? rangeText(range, zone)
        : `in ${spanWords(range)}`;
  const bars = data?.histogram?.bars;
  return (
    <Section
      title={view.name}
      aside={
        <span className="flex items-baseline gap-3 text-sm">
          {bars !== undefined && (
            <span className="figures text-ink-2">
              {counted(
                bars.reduce((sum, { requests }) => sum + requests, 0),
                'request',
              )}{' '}
              {span}
            </span>
          )}
          <Link to="/app/logs" search={search} className="text-accent underline-offset-2 hover:underline">
            Open view
          </Link>
        </span>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={ROWS + 1} />}
      {data !== undefined && data.calls.length === 0 && <p className="text-ink-2">No matching requests {span}.</p>}
      {data !== undefined && data.calls.length > 0 && (
        <Table
          label={`First requests of ${view.name}`}
          columns={columns}
          rows={data.calls}
          rowKey={({ request_id: id }) => id}
          onOpen={({ request_id: id }) => navigate({ to: '/app/logs/{-$request}', names: { request: id }, search })}
        />
      )}
    </Section>
  );
}
