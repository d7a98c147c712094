/** Renders the ledger of an account as a table, page by page. */
import { usePages } from '../../lib/queries.ts';
import { Money, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type Entry, kindLabel } from './account.ts';

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'at', head: 'Time', width: 110, cell: ({ at }) => <When at={at} /> },
  {
    id: 'kind',
    head: 'Type',
    width: 130,
    cell: ({ kind }) => (
      <Badge tone={kind === 'topup' ? 'good' : kind === 'correct' || kind === 'absorb' ? 'attention' : 'neutral'}>
        {kindLabel(kind)}
      </Badge>
    ),
  },
  {
    id: 'ref',
    head: 'Reference',
    cell: ({ ref, note }) => (
      <span className="flex min-w-40 items-center gap-1">
        {note !== null && <span className="truncate">{note}</span>}
        <code className="truncate text-ink-3">{ref}</code>
        <CopyIcon text={ref} what="reference" />
      </span>
    ),
  },
  {
    id: 'amount',
    head: 'Amount (USD)',
    align: 'right',
    cell: ({ amount_nano_usd }) => <Money nanoUsd={amount_nano_usd} exact />,
  },
  {
    id: 'released',
    head: 'Released (USD)',
    align: 'right',
    wideOnly: true,
    cell: ({ released_nano_usd }) =>
      released_nano_usd === '0' ? <span className="text-ink-3">–</span> : <Money nanoUsd={released_nano_usd} exact />,
  },
];

/** The account and its ledger; each page contains both. */
export function useLedger(account: string, kind: 'money' | 'all') {
  return usePages('GET /accounts/{account}/billing', { account, kind }, (before) => ({
    path: { account },
    query: { kind, ...(before === undefined ? {} : { before }) },
  }));
}

interface LedgerTableProps {
  readonly pages: ReturnType<typeof useLedger>;
  /** Filter of the table: `money` shows top-ups and corrections only. */
  readonly kind: 'money' | 'all';
  readonly onShowAll: () => void;
}

export function LedgerTable({ pages, kind, onShowAll }: LedgerTableProps) {
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  if (pages.data === undefined) {
    return pages.error === null ? <SkeletonRows /> : null;
  }
  // A page may be short or empty without being the last.
  if (entries.length === 0 && !pages.hasNextPage) {
    const isCharged = pages.data.pages[0]?.account.charged_nano_usd !== '0';
    return kind === 'money' ? <NoMovements isCharged={isCharged} onShowAll={onShowAll} /> : <NoEntries />;
  }
  return (
    <>
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.fetchNextPage()} />}
      <Table
        label="Ledger"
        columns={COLUMNS}
        rows={entries}
        rowKey={({ at, kind, ref }) => `${at} ${kind} ${ref}`}
        foot={
          pages.hasNextPage && (
            <div className="sticky left-0 border-t border-line p-2 text-center">
              <Button kind="quiet" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Load older entries
              </Button>
            </div>
          )
        }
      />
    </>
  );
}

function NoMovements({ isCharged, onShowAll }: { readonly isCharged: boolean; readonly onShowAll: () => void }) {
  return (
    <Empty title="No top-ups or adjustments" action={<Button onClick={onShowAll}>Show all entries</Button>}>
      {isCharged
        ? 'Charges for requests are listed under “All entries”, and by day, model and key in the statement.'
        : 'Top-ups and balance adjustments are listed here.'}
    </Empty>
  );
}

function NoEntries() {
  return (
    <Empty title="No ledger entries yet">
      Every top-up and charge is recorded here permanently. Each entry’s hash includes the previous entry.
    </Empty>
  );
}
