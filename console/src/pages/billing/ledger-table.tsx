/** Owns the ledger of an account as a table, page by page. */
import { usePages } from '../../lib/use-pages.ts';
import { Money, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { CopyIcon } from '../../ui/copy-button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { type Entry, kindWord } from './account.ts';

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'at', head: 'When', width: 110, cell: ({ at }) => <When at={at} /> },
  {
    id: 'kind',
    head: 'Kind',
    width: 130,
    cell: ({ kind }) => (
      <Badge tone={kind === 'topup' ? 'good' : kind === 'correct' || kind === 'absorb' ? 'attention' : 'neutral'}>
        {kindWord(kind)}
      </Badge>
    ),
  },
  {
    id: 'ref',
    head: 'For',
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
    head: 'Amount, USD',
    align: 'right',
    cell: ({ amount_nano_usd }) => <Money nanoUsd={amount_nano_usd} exact />,
  },
  {
    id: 'released',
    head: 'Hold released, USD',
    align: 'right',
    wideOnly: true,
    cell: ({ released_nano_usd }) =>
      released_nano_usd === '0' ? <span className="text-ink-3">–</span> : <Money nanoUsd={released_nano_usd} exact />,
  },
  { id: 'seq', head: 'Entry', align: 'right', wideOnly: true, cell: ({ seq }) => seq },
];

/** The account and its ledger: both come with each page. */
export function useLedger(account: string, kind: 'money' | 'all') {
  return usePages('GET /accounts/{account}/billing', { account, kind }, (before) => ({
    path: { account },
    query: { kind, ...(before === undefined ? {} : { before }) },
  }));
}

export function LedgerTable({ pages }: { readonly pages: ReturnType<typeof useLedger> }) {
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  if (pages.data === undefined) {
    return pages.error === null ? <SkeletonRows /> : null;
  }
  if (entries.length === 0) {
    return (
      <Empty title="The ledger is empty">
        Every top-up and every charge of a call stands here for good, each with a hash over the one before it.
      </Empty>
    );
  }
  return (
    <>
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.fetchNextPage()} />}
      <Table
        label="Ledger"
        columns={COLUMNS}
        rows={entries}
        rowKey={({ seq }) => String(seq)}
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
