/** Renders the audit page: who changed what, newest first, with the difference. */
import { useMemo } from 'react';
import { RangeDownload } from '../../csv/range-download.tsx';
import { QueryBar } from '../../filters/query-bar.tsx';
import type { KnownValues } from '../../filters/query-completions.tsx';
import { addressOf } from '../../lib/api.ts';
import { usePages } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ACTIONS, type AuditEntry, actionName, actorName, changesOf, fieldName, targetKind } from './audit-labels.ts';
import { AuditSheet } from './audit-sheet.tsx';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'at', head: 'Time', width: 110, cell: ({ at }) => <When at={at} /> },
  {
    id: 'actor',
    head: 'Actor',
    cell: ({ actor }) => (
      <span className="block truncate max-md:max-w-24" title={actorName(actor)}>
        {actorName(actor)}
      </span>
    ),
  },
  {
    id: 'act',
    head: 'Action',
    cell: ({ act }) => (
      <span className="block truncate font-medium max-md:max-w-24" title={actionName(act)}>
        {actionName(act)}
      </span>
    ),
  },
  {
    id: 'subject',
    head: 'Target',
    cell: ({ subject }) => (
      <span className="flex gap-1.5">
        <span className="text-ink-3">{targetKind(subject.kind)}</span>
        <code className="truncate">{subject.id}</code>
      </span>
    ),
  },
  {
    id: 'changes',
    head: 'Changed fields',
    wideOnly: true,
    cell: (entry) => {
      const fields = changesOf(entry).map(({ member }) => fieldName(member));
      return (
        <span className="block max-w-56 truncate text-ink-2" title={fields.join(', ')}>
          {fields.join(', ')}
        </span>
      );
    },
  },
  {
    id: 'address',
    head: 'Source',
    wideOnly: true,
    cell: ({ address }) => (address === null ? <span className="text-ink-3">Local</span> : <code>{address}</code>),
  },
];

export default function AuditPage() {
  const { account } = useAccount();
  const [filters, setFilters] = useFilters();
  const { q } = filters;
  const asked = q === undefined ? {} : { q };
  const pages = usePages('GET /accounts/{account}/audit', { account, q }, (before) => ({
    path: { account },
    query: { ...asked, ...(before === undefined ? {} : { before }) },
  }));
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  const open = entries.find(({ seq }) => String(seq) === filters.open);
  const known = useMemo(() => valuesOf(pages.data?.pages.flatMap((page) => page.entries) ?? []), [pages.data]);
  const isFiltered = q !== undefined;
  return (
    <Page
      title="Audit log"
      lead="Every change, with its actor, source and difference. Entries can’t be deleted."
      hasTimes
      action={
        <RangeDownload
          name="Audit log CSV"
          lead={`${isFiltered ? 'The actions that meet the query' : 'Every action'} in the selected days, with values before and after.`}
          urlOf={(range) =>
            addressOf('GET /accounts/{account}/audit.csv', { path: { account }, query: { ...range, ...asked } }).url
          }
        />
      }
      filters={
        <>
          <QueryBar language="audit" placeholder="action:keys.* actor:ada date:2026-11-01..2026-11-21" known={known} />
          {isFiltered && (
            <Button kind="quiet" onClick={() => setFilters({ q: undefined })}>
              Clear filters
            </Button>
          )}
        </>
      }
    >
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.data === undefined && pages.error === null && <SkeletonRows />}
      {pages.data !== undefined && entries.length === 0 && (
        <Empty title={isFiltered ? 'No matching entries' : 'No changes yet'}>
          Changes to API keys, limits, members, prices and balances are recorded here, whether by a user, an API key or
          the command line.
        </Empty>
      )}
      {entries.length > 0 && (
        <Table
          label="Audit log"
          columns={COLUMNS}
          rows={entries}
          rowKey={({ seq }) => String(seq)}
          openKey={filters.open ?? null}
          onOpen={({ seq }) => setFilters({ open: String(seq) })}
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
      )}
      {open !== undefined && (
        <AuditSheet
          key={open.seq}
          entry={open}
          onFilter={(query) => setFilters({ q: query, open: undefined })}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
    </Page>
  );
}

/** What the bar completes: all actions, and the actors, targets and workspaces of the entries read so far. */
function valuesOf(entries: readonly AuditEntry[]): KnownValues {
  const unique = (pairs: readonly (readonly [value: string, hint: string])[]) => [...new Map(pairs)];
  return {
    action: Object.entries(ACTIONS),
    actor: unique(entries.map(({ actor: { id, name } }) => [name, id])),
    target: unique(entries.map(({ subject: { id, kind } }) => [id, targetKind(kind)])),
  };
}
