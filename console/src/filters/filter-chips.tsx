/** Owns the filters that are set, each with its way out, and adding one by its name and value. */
import { ListFilter, X } from 'lucide-react';
import { useId, useState } from 'react';
import type { Reply } from '../../../gateway/src/console-api/contract.ts';
import { useReply } from '../lib/queries.ts';
import { useFilters } from '../lib/search.ts';
import { useAccount } from '../lib/session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../ui/field.tsx';
import { findNamed, type Named, unknownWords } from './find-named.ts';
import { filterChange, readWithout } from './without.ts';

export interface FilterKind {
  /** Its member in the address. */
  readonly name: string;
  readonly word: string;
  /** Values that are known, each with its label where it has one; others can be typed. */
  readonly known?: readonly (readonly [value: string, label: string | null])[];
  /** What it can be, where nothing else is allowed. */
  readonly only?: readonly (readonly [value: string, label: string])[];
  /** What calls without one are called; left out: every call has one. */
  readonly none?: string;
}

interface FilterChipsProps {
  readonly kinds: readonly FilterKind[];
  /** What people call values that are ids. */
  readonly labels: Reply<'GET /accounts/{account}/logs'>['filter_labels'];
}

export function FilterChips({ kinds, labels }: FilterChipsProps) {
  const [search, change] = useFilters();
  const [open, setOpen] = useState(false);
  const without = readWithout(search);
  const set = kinds.filter(
    ({ name, none }) => search[name] !== undefined || (none !== undefined && without.includes(name)),
  );
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {set.map((kind) => (
        <button
          key={kind.name}
          type="button"
          onClick={() => change(filterChange(search, kind.name, undefined))}
          className="group inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border border-accent/40 bg-accent-soft pr-2 pl-2.5 text-accent-strong hover:border-accent"
        >
          <span>{kind.word}</span>
          <span className="max-w-80 truncate font-medium" title={search[kind.name]}>
            {labelOf(kind, search[kind.name], labels)}
          </span>
          <span className="sr-only">, take this filter away</span>
          <X size={13} aria-hidden="true" className="shrink-0" />
        </button>
      ))}
      <Button data-filter icon={<ListFilter size={14} aria-hidden="true" />} onClick={() => setOpen(true)}>
        Filter
      </Button>
      {open && <AddFilter kinds={kinds} labels={labels} onClose={() => setOpen(false)} />}
    </div>
  );
}

function labelOf(kind: FilterKind, value: string | undefined, labels: FilterChipsProps['labels']): string {
  if (value === undefined) return kind.none ?? '';
  const told = labels.find((one) => one.filter === kind.name && one.value === value);
  return told?.label ?? [...(kind.only ?? []), ...(kind.known ?? [])].find(([known]) => known === value)?.[1] ?? value;
}

/** Filters whose values are ids with names, and how these ids begin. */
const ID_PREFIXES: Readonly<Record<string, string>> = { key: 'key_', member: 'person_' };

/** What the ids of a filter are called; fetched when such a filter is chosen. `idPrefix` null: its values are no ids. */
function useNames(filter: string) {
  const { account } = useAccount();
  const idPrefix = ID_PREFIXES[filter] ?? null;
  const { data, isPending } = useReply(
    'GET /accounts/{account}/filter-names',
    { path: { account } },
    { enabled: idPrefix !== null },
  );
  const known: readonly Named[] = (data?.names ?? []).filter((one) => one.filter === filter);
  return { idPrefix, known, isAwaited: idPrefix !== null && isPending };
}

interface AddFilterProps extends FilterChipsProps {
  readonly onClose: () => void;
}

function AddFilter({ kinds, labels, onClose }: AddFilterProps) {
  const [search, change] = useFilters();
  const list = useId();
  const [name, setName] = useState(kinds[0]?.name ?? '');
  const kind = kinds.find((one) => one.name === name);
  const labelFor = (filter: string, id: string) =>
    labels.find((one) => one.filter === filter && one.value === id)?.label ?? id;
  const [value, setValue] = useState(labelFor(name, search[name] ?? ''));
  const [isNone, setNone] = useState(readWithout(search).includes(name));
  const [problem, setProblem] = useState<string | null>(null);
  const names = useNames(name);
  const asked = value.trim() === '' ? (kind?.only?.[0]?.[0] ?? '') : value.trim();
  const wantsNone = kind?.none !== undefined && isNone;
  const canApply = wantsNone || (asked !== '' && !names.isAwaited);
  const apply = () => {
    if (!canApply) return;
    const found = wantsNone || names.idPrefix === null ? null : findNamed(asked, names.known, names.idPrefix);
    if (found?.kind === 'unknown') {
      setProblem(unknownWords(kind?.word ?? name, asked, found.near));
      return;
    }
    change(filterChange(search, name, wantsNone ? null : (found?.value ?? asked)));
    onClose();
  };
  return (
    <Dialog
      title="Filter"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!canApply} onClick={apply}>
            Set filter
          </Button>
        </>
      }
    >
      <form
        className="grid gap-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <SelectField
          label="What"
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setProblem(null);
            setValue(labelFor(event.target.value, search[event.target.value] ?? ''));
            setNone(readWithout(search).includes(event.target.value));
          }}
        >
          {kinds.map((one) => (
            <option key={one.name} value={one.name}>
              {one.word}
            </option>
          ))}
        </SelectField>
        {kind?.only === undefined ? (
          <div>
            <TextField
              label="Is"
              value={value}
              list={list}
              disabled={wantsNone}
              autoComplete="off"
              error={problem}
              {...(names.idPrefix === null ? {} : { hint: 'A name, or a part of it that only one has.' })}
              onChange={(event) => {
                setProblem(null);
                setValue(event.target.value);
              }}
            />
            <datalist id={list}>
              {names.known.map(({ value: id, label }) => (
                <option key={id} value={label} />
              ))}
              {names.idPrefix === null &&
                kind?.known?.map(([known, label]) => (
                  <option key={known} value={known}>
                    {label ?? known}
                  </option>
                ))}
            </datalist>
          </div>
        ) : (
          <SelectField label="Is" value={asked} onChange={(event) => setValue(event.target.value)}>
            {kind.only.map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </SelectField>
        )}
        {kind?.none !== undefined && (
          <CheckField
            label={`Only calls that have none${kind.none === 'none' ? '' : ` (${kind.none})`}`}
            className="sm:col-span-2"
            checked={isNone}
            onChange={(event) => setNone(event.target.checked)}
          />
        )}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}
