/** Renders the audit page: who changed what, newest first, with the difference. */
import { useEffect, useId, useState } from 'react';
import { RangeDownload } from '../../csv/range-download.tsx';
import { addressOf } from '../../lib/api.ts';
import { useFilters } from '../../lib/search.ts';
import { useAccount } from '../../lib/session.ts';
import { useDebounced } from '../../lib/use-debounced.ts';
import { usePages } from '../../lib/use-pages.ts';
import { When } from '../../ui/amounts.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { type AuditEntry, changesOf } from './audit-changes.ts';
import { AuditSheet } from './audit-sheet.tsx';
import { actorWords } from './audit-words.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'at', head: 'When', width: 110, cell: ({ at }) => <When at={at} /> },
  {
    id: 'actor',
    head: 'Who',
    cell: ({ actor }) => (
      <span className="block truncate max-md:max-w-24" title={actorWords(actor)}>
        {actorWords(actor)}
      </span>
    ),
  },
  { id: 'act', head: 'What', cell: ({ act }) => <span className="font-medium">{act}</span> },
  {
    id: 'subject',
    head: 'To',
    cell: ({ subject }) => (
      <span className="flex gap-1.5">
        <span className="text-ink-3">{subject.kind}</span>
        <code className="truncate">{subject.id}</code>
      </span>
    ),
  },
  {
    id: 'changes',
    head: 'Changed',
    wideOnly: true,
    cell: (entry) => (
      <span className="text-ink-2">
        {changesOf(entry)
          .map(({ member }) => member)
          .join(', ')}
      </span>
    ),
  },
  {
    id: 'address',
    head: 'From',
    wideOnly: true,
    cell: ({ address }) =>
      address === null ? <span className="text-ink-3">this machine</span> : <code>{address}</code>,
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
      title="Audit"
      lead="Who changed what, from where, and the difference it made. Nothing can be taken out of it."
      hasTimes
      action={
        <RangeDownload
          name="Audit CSV"
          lead="Every act of the days, with its members before and after."
          urlOf={(range) => addressOf('GET /accounts/{account}/audit.csv', { path: { account }, query: range }).url}
        />
      }
      filters={
        <>
          <TextFilter
            label="What was done"
            placeholder="what (act)"
            value={act ?? ''}
            choices={[...new Set(entries.map((entry) => entry.act))]}
            onChange={(text) => setFilters({ act: text })}
          />
          <TextFilter
            label="Id of who did it"
            placeholder="who (id)"
            value={actor ?? ''}
            choices={[...new Set(entries.map((entry) => entry.actor.id))]}
            onChange={(text) => setFilters({ actor: text })}
          />
          <TextFilter
            label="Id of what it was done to"
            placeholder="to what (id)"
            value={subject ?? ''}
            choices={[...new Set(entries.map((entry) => entry.subject.id))]}
            onChange={(text) => setFilters({ subject: text })}
          />
          {isFiltered && (
            <Button kind="quiet" onClick={() => setFilters({ actor: undefined, act: undefined, subject: undefined })}>
              Clear
            </Button>
          )}
        </>
      }
    >
      {pages.error !== null && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.data === undefined && pages.error === null && <SkeletonRows />}
      {pages.data !== undefined && entries.length === 0 && (
        <Empty title={isFiltered ? 'No act matches the filters' : 'Nothing was changed yet'}>
          Every change of keys, limits, members, prices and money is written down here, by whomever it was made: a
          person, a key or the command line.
        </Empty>
      )}
      {entries.length > 0 && (
        <Table
          label="Audit"
          columns={COLUMNS}
          rows={entries}
          rowKey={({ seq }) => String(seq)}
          openKey={filters.open ?? null}
          onOpen={({ seq }) => setFilters({ open: String(seq) })}
          foot={
            pages.hasNextPage && (
              <div className="sticky left-0 border-t border-line p-2 text-center">
                <Button kind="quiet" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                  Load older acts
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
