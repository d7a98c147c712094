/** Renders one session: its requests in order with the cost up to each, its prompt cache, and where that broke. */
import { Scale, Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { counted, duration, share, shortNumber, wholeNumber } from '../../lib/format.ts';
import { part } from '../../lib/part.ts';
import { usePages } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { exactTime, useZone, zoneFormat } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useFilters, usePathNames } from '../../route/route.ts';
import { DialogPart } from '../../shell/page-fault.tsx';
import { ExactTime, Money } from '../../ui/amounts.tsx';
import { Badge, CallStatus } from '../../ui/badge.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, Section, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { BreakList } from './break-list.tsx';
import { CostLine } from './cost-line.tsx';
import { SessionCost, type SessionView } from './session-cost.tsx';
import { inOrder, type ShownTurn } from './turns.ts';

const CallSheet = part(() => import('../logs/call-sheet.tsx'));

const CLOCK = {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const;

const COLUMNS: readonly Column<ShownTurn>[] = [
  { id: 'number', head: '#', width: 52, align: 'right', cell: ({ number }) => wholeNumber(number) },
  { id: 'at', head: 'Time', width: 132, wideOnly: true, cell: ({ at }) => <Clock at={at} /> },
  {
    id: 'status',
    head: 'Status',
    width: 84,
    wideOnly: true,
    cell: (turn) => <CallStatus status={turn.status} error={turn.error} />,
  },
  {
    id: 'model',
    head: 'Model',
    cell: ({ model, served_model: served }) => (
      <span title={served === null || served === model ? undefined : `Served by ${served}`}>{model ?? '–'}</span>
    ),
  },
  {
    id: 'duration',
    head: 'Duration',
    align: 'right',
    wideOnly: true,
    cell: ({ duration_ms: ms }) => <span className="whitespace-nowrap">{duration(ms)}</span>,
  },
  {
    id: 'tokens',
    head: 'Tokens in / out',
    align: 'right',
    wideOnly: true,
    cell: ({ input, output }) => (
      <span title={`${wholeNumber(input)} in, ${wholeNumber(output)} out`}>
        {shortNumber(input)} / {shortNumber(output)}
      </span>
    ),
  },
  { id: 'cache', head: 'From cache', width: 150, cell: (turn) => <CacheBar turn={turn} /> },
  { id: 'cost', head: 'Cost (USD)', align: 'right', cell: ({ cost_nano_usd: cost }) => <Money nanoUsd={cost} /> },
  { id: 'total', head: 'Total (USD)', align: 'right', wideOnly: true, cell: ({ total }) => <Money nanoUsd={total} /> },
];

function Clock({ at }: { readonly at: string }) {
  const zone = useZone();
  return (
    <time dateTime={at} title={exactTime(at, zone)} className="figures whitespace-nowrap">
      {zoneFormat(zone, CLOCK).format(new Date(at))}
    </time>
  );
}

/** The part of the prompt that was read from a cache. */
function CacheBar({ turn: { input, cache_read: read, cache_break: found } }: { readonly turn: ShownTurn }) {
  const percent = share(read, input);
  return (
    <span
      className="flex items-center gap-2"
      title={`${wholeNumber(read)} of ${wholeNumber(input)} input tokens read from a cache`}
    >
      <span aria-hidden="true" className="h-1.5 w-10 shrink-0 overflow-hidden rounded-full bg-hover max-md:hidden">
        <span
          className="block h-full bg-accent"
          style={{ width: `${input === 0 ? 0 : Math.min(100, (read / input) * 100)}%` }}
        />
      </span>
      <span className="figures w-9 text-right">{percent}</span>
      {found !== null && <Badge tone="attention">Break</Badge>}
    </span>
  );
}

export default function SessionPage() {
  const { session = '' } = usePathNames();
  const { account } = useAccount();
  const [search, change] = useFilters();
  const pages = usePages('GET /accounts/{account}/session-turns', { account, session }, (before) => ({
    path: { account },
    query: { session, ...(before !== undefined && { before }) },
  }));
  const { request } = search;
  const open = (id: string | undefined) => change({ request: id });
  const sums = pages.data?.pages[0]?.session;
  const turns = inOrder(pages.data?.pages ?? []);
  return (
    <Page
      title={session}
      hasTimes
      lead={
        <span className="inline-flex flex-wrap items-center gap-2">
          <Link to="/app/sessions" className="text-accent underline underline-offset-2">
            Sessions
          </Link>
          <CopyIcon text={session} what="session" />
          {sums !== undefined && (
            <span>
              Started <ExactTime at={sums.first_at} /> with {sums.keys.join(', ')}
            </span>
          )}
        </span>
      }
      action={sums !== undefined && <Actions session={sums} turns={turns} />}
    >
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {sums === undefined && pages.error === null && (
        <>
          <SkeletonPanel heightPx={60} />
          <SkeletonPanel heightPx={150} />
          <SkeletonRows rows={10} />
        </>
      )}
      {sums !== undefined && (
        <>
          <Totals session={sums} />
          <CostLine turns={turns} />
          <BreakList turns={turns} onOpen={open} />
          <Section
            title="Requests"
            aside={
              pages.hasNextPage && (
                <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                  Load {counted((turns[0]?.number ?? 1) - 1, 'earlier request')}
                </Button>
              )
            }
          >
            <Table
              label="Requests of the session"
              columns={COLUMNS}
              rows={turns}
              rowKey={({ request_id: id }) => id}
              onOpen={({ request_id: id }) => open(id)}
              openKey={request ?? null}
            />
          </Section>
        </>
      )}
      {request !== undefined && (
        <DialogPart onClose={() => open(undefined)}>
          <CallSheet key={request} request={request} onClose={() => open(undefined)} />
        </DialogPart>
      )}
    </Page>
  );
}

/** The requests of the session in Logs: by name, and within its time. */
function Actions({ session, turns }: { readonly session: SessionView; readonly turns: readonly ShownTurn[] }) {
  const { session: name, first_at: from, duration_ms: ms } = session;
  const search = { session: name, from, to: new Date(Date.parse(from) + ms + 1_000).toISOString() };
  return (
    <>
      <Link to="/app/logs" search={search} className={buttonClasses()}>
        <Table2 size={14} aria-hidden="true" />
        Show in Logs
      </Link>
      <Link to="/app/logs" search={{ ...search, other_model: '-' }} className={buttonClasses()}>
        <Scale size={14} aria-hidden="true" />
        Compare cost
      </Link>
      <TableDownload name="session" rows={turns} columns={() => import('./turn-csv.ts')} />
    </>
  );
}

function Totals({ session }: { readonly session: SessionView }) {
  const { requests, errors, duration_ms: ms, input, cache_read: read, output, models, unpriced } = session;
  const facts: readonly (readonly [name: string, value: ReactNode, aside?: string])[] = [
    [
      'Cost (USD)',
      <SessionCost key="cost" session={session} />,
      unpriced > 0 ? `${wholeNumber(unpriced)} unpriced` : '',
    ],
    ['Requests', wholeNumber(requests), errors === 0 ? '' : counted(errors, 'error')],
    ['Duration', duration(ms)],
    ['Input tokens', shortNumber(input), `${share(read, input)} from cache`],
    ['Output tokens', shortNumber(output)],
    ['Models', models.join(', ') || '–'],
  ];
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 lg:grid-cols-6">
      {facts.map(([name, value, aside]) => (
        <div key={name} className="min-w-0 bg-panel px-3 py-2">
          <dt className="text-sm text-ink-2">{name}</dt>
          <dd className="figures flex flex-wrap items-baseline gap-x-2">
            <span className="min-w-0 text-read font-semibold break-words">{value}</span>
            {aside !== undefined && aside !== '' && <span className="text-sm text-ink-2">{aside}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
