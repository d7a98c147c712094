/** Renders the audit page: who changed what, newest first, with the difference. */
import { useEffect, useId, useState } from 'react';
import { RangeDownload } from '../../csv/range-download.tsx';
import { addressOf } from '../../lib/api.ts';
import { usePages } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useDebounced } from '../../lib/timers.ts';
import { useFilters } from '../../route/route.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
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
  const { actor, act, subject } = filters;
  const pages = usePages('GET /accounts/{account}/audit', { account, actor, act, subject }, (before) => ({
    path: { account },
    query: {
      ...(before === undefined ? {} : { before }),
      ...(actor === undefined ? {} : { actor }),
      ...(act === undefined ? {} : { act }),
      ...(subject === undefined ? {} : { subject }),
    },
  }));
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  const open = entries.find(({ seq }) => String(seq) === filters.open);
  const isFiltered = actor !== undefined || act !== undefined || subject !== undefined;
  return (
    <Page
      title="Audit log"
      lead="Every change, with its actor, source and difference. Entries can’t be deleted."
      hasTimes
      action={
        <RangeDownload
          name="Audit log CSV"
          lead="Every action in the selected days, with values before and after."
          urlOf={(range) => addressOf('GET /accounts/{account}/audit.csv', { path: { account }, query: range }).url}
        />
      }
      filters={
        <>
          <select
            data-filter
            aria-label="Action"
            className={`${CONTROL} sm:w-52`}
            value={act ?? ''}
            onChange={({ target }) => setFilters({ act: target.value })}
          >
            <option value="">All actions</option>
            {Object.entries(ACTIONS).map(([code, name]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
            {act !== undefined && ACTIONS[act] === undefined && <option value={act}>{act}</option>}
          </select>
          <TextFilter
            label="Actor ID"
            placeholder="Actor ID"
            value={actor ?? ''}
            choices={[...new Set(entries.map((entry) => entry.actor.id))]}
            onChange={(text) => setFilters({ actor: text })}
          />
          <TextFilter
            label="Target ID"
            placeholder="Target ID"
            value={subject ?? ''}
            choices={[...new Set(entries.map((entry) => entry.subject.id))]}
            onChange={(text) => setFilters({ subject: text })}
          />
          {isFiltered && (
            <Button kind="quiet" onClick={() => setFilters({ actor: undefined, act: undefined, subject: undefined })}>
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
          onFilter={(filter) =>
            setFilters({ actor: undefined, act: undefined, subject: undefined, open: undefined, ...filter })
          }
          onClose={() => setFilters({ open: undefined })}
        />
      )}
    </Page>
  );
}

interface TextFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  /** Suggestions while typing. */
  readonly choices: readonly string[];
  readonly onChange: (text: string) => void;
}

/** Applied once typing pauses. */
function TextFilter({ label, placeholder, value, choices, onChange }: TextFilterProps) {
  const list = useId();
  const [text, setText] = useState(value);
  const [applied, setApplied] = useState(value);
  const rested = useDebounced(text);
  // The address changed from elsewhere: show its value.
  if (applied !== value) {
    setApplied(value);
    setText(value);
  }
  useEffect(() => {
    if (rested === text && rested.trim() !== value) onChange(rested.trim());
  });
  return (
    <>
      <input
        type="search"
        data-filter
        list={list}
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        className={`${CONTROL} sm:w-52`}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <datalist id={list}>
        {choices.map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
    </>
  );
}
