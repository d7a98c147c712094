/** Renders the list of sessions: the runs of agents and conversations that requests say they are turns of. */
import { TableDownload } from '../../csv/table-download.tsx';
import { QueryBar } from '../../filters/query-bar.tsx';
import { RangeChoice } from '../../filters/range-choice.tsx';
import { spanWords } from '../../filters/span-words.ts';
import { readRange } from '../../filters/time-range.ts';
import { useChosenAt } from '../../filters/use-chosen-at.ts';
import { duration, share, wholeNumber } from '../../lib/format.ts';
import { usePages } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { useFilters, useNavigate } from '../../route/route.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { SessionCost, type SessionView } from './session-cost.tsx';

const COLUMNS: readonly Column<SessionView>[] = [
  {
    id: 'session',
    head: 'Session',
    cell: ({ session }) => <code title={session}>{session}</code>,
  },
  { id: 'start', head: 'Start', width: 108, wideOnly: true, cell: ({ first_at: at }) => <When at={at} /> },
  {
    id: 'duration',
    head: 'Duration',
    align: 'right',
    wideOnly: true,
    cell: ({ duration_ms: ms }) => <span className="whitespace-nowrap">{duration(ms)}</span>,
  },
  { id: 'requests', head: 'Requests', align: 'right', cell: ({ requests }) => wholeNumber(requests) },
  { id: 'cost', head: 'Cost (USD)', align: 'right', cell: (session) => <SessionCost session={session} /> },
  {
    id: 'cache',
    head: 'From cache',
    align: 'right',
    cell: ({ cache_read: read, input }) => (
      <span title={`${wholeNumber(read)} of ${wholeNumber(input)} input tokens`}>{share(read, input)}</span>
    ),
  },
  {
    id: 'errors',
    head: 'Errors',
    align: 'right',
    wideOnly: true,
    cell: ({ errors }) => (errors === 0 ? '0' : <Badge tone="bad">{wholeNumber(errors)}</Badge>),
  },
  {
    id: 'models',
    head: 'Models',
    wideOnly: true,
    cell: ({ models }) => <span title={models.join(', ')}>{models.join(', ') || '–'}</span>,
  },
  {
    id: 'keys',
    head: 'API key',
    wideOnly: true,
    cell: ({ keys }) => <span title={keys.join(', ')}>{keys.join(', ')}</span>,
  },
];

export default function SessionsPage() {
  const [search, change] = useFilters();
  const navigate = useNavigate();
  const { account } = useAccount();
  const range = readRange(search, '7d', useChosenAt(search), useZone());
  const q = search.q?.trim() ?? '';
  // A preset has no end in the request, so that the list includes the newest requests.
  const query = { from: range.from, ...(range.preset === null && { to: range.to }), ...(q !== '' && { q }) };
  const pages = usePages('GET /accounts/{account}/sessions', { account, ...query }, (before) => ({
    path: { account },
    query: { ...query, ...(before !== undefined && { before }) },
  }));
  const sessions = pages.data?.pages.flatMap((page) => page.sessions);
  const open = (request: string) => navigate({ to: '/app/logs/{-$request}', names: { request } });
  return (
    <Page
      title="Sessions"
      lead="Runs of agents and conversations, with the cost of each."
      hasTimes
      action={<TableDownload name="sessions" rows={sessions ?? []} columns={() => import('./session-csv.ts')} />}
      filters={
        <>
          <QueryBar placeholder="session:abc key:prod model:claude*, or a request ID" range={range} onFind={open} />
          <RangeChoice range={range} />
        </>
      }
    >
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {sessions === undefined && pages.error === null && <SkeletonRows rows={12} />}
      {sessions?.length === 0 && (
        <NoSessions
          isFiltered={q !== ''}
          span={spanWords(range)}
          onClear={() => change({ q: undefined })}
          onWiden={range.preset === '90d' ? null : () => change({ range: '90d', from: undefined, to: undefined })}
        />
      )}
      {sessions !== undefined && sessions.length > 0 && (
        <Table
          label="Sessions"
          columns={COLUMNS}
          rows={sessions}
          rowKey={({ session }) => session}
          onOpen={({ session }) => navigate({ to: '/app/sessions/$session', names: { session } })}
          foot={
            pages.hasNextPage && (
              <div className="border-t border-line p-2 text-center">
                <Button kind="quiet" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                  Load older sessions
                </Button>
              </div>
            )
          }
        />
      )}
    </Page>
  );
}

interface NoSessionsProps {
  readonly isFiltered: boolean;
  readonly span: string;
  readonly onClear: () => void;
  /** Null: the range is the longest. */
  readonly onWiden: (() => void) | null;
}

function NoSessions({ isFiltered, span, onClear, onWiden }: NoSessionsProps) {
  if (isFiltered) {
    return (
      <Empty
        title={`No matching sessions in ${span}`}
        action={
          <Button kind="primary" onClick={onClear}>
            Clear query
          </Button>
        }
      >
        No request of a session in this period matches the query.
      </Empty>
    );
  }
  return (
    <Empty
      title={`No sessions in ${span}`}
      action={
        onWiden !== null && (
          <Button kind="primary" onClick={onWiden}>
            Show the last 90 days
          </Button>
        )
      }
    >
      <p>
        A session is one run of an agent or one conversation. Claude Code and Codex name theirs by themselves. Other
        clients send the header <code className="whitespace-nowrap">x-session-id</code>, or the member{' '}
        <code className="whitespace-nowrap">metadata.session_id</code> in the body.
      </p>
    </Empty>
  );
}
