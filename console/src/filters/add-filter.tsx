/** Asks for a filter and its value, and finds the id for a typed name. Loaded when it is first opened. */
import { useId, useState } from 'react';
import { useReply } from '../lib/queries.ts';
import { useAccount } from '../lib/session.ts';
import { useFilters } from '../route/route.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../ui/field.tsx';
import { type FilterChipsProps, filterChange, readWithout } from './filters.ts';

/** Filters whose values are named ids, with the prefix of these ids. */
const ID_PREFIXES: Readonly<Record<string, string>> = { key: 'key_', member: 'person_' };

/** Names of a filter's ids, fetched when such a filter is chosen. `idPrefix` null: the values are not ids. */
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

export default function AddFilter({ kinds, labels, onClose }: AddFilterProps) {
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
  const entered = value.trim() === '' ? (kind?.only?.[0]?.[0] ?? '') : value.trim();
  const wantsNone = kind?.none !== undefined && isNone;
  const canApply = wantsNone || (entered !== '' && !names.isAwaited);
  const apply = () => {
    if (!canApply) return;
    const found = wantsNone || names.idPrefix === null ? null : findNamed(entered, names.known, names.idPrefix);
    if (found?.kind === 'unknown') {
      setProblem(unknownText(kind?.word ?? name, entered, found.near));
      return;
    }
    change(filterChange(search, name, wantsNone ? null : (found?.value ?? entered)));
    onClose();
  };
  return (
    <Dialog
      title="Add filter"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={!canApply} onClick={apply}>
            Apply filter
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
          label="Field"
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
              label="Value"
              value={value}
              list={list}
              disabled={wantsNone}
              autoComplete="off"
              error={problem}
              {...(names.idPrefix === null ? {} : { hint: 'A name, or a unique part of it' })}
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
          <SelectField label="Value" value={entered} onChange={(event) => setValue(event.target.value)}>
            {kind.only.map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </SelectField>
        )}
        {kind?.none !== undefined && (
          <CheckField
            label={`Only requests without a value${kind.none === 'None' ? '' : ` (${kind.none.toLowerCase()})`}`}
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

/** An id with its label. */
interface Named {
  readonly value: string;
  readonly label: string;
}

type Found =
  | { readonly kind: 'found'; readonly value: string }
  /** `near`: labels that begin with or contain the text, at most three. */
  | { readonly kind: 'unknown'; readonly near: readonly string[] };

const NEAR_MAX = 3;

/**
 * Matches by label, ignoring case when only one fits, or by id. An id missing from the list is accepted: its key may be
 * deleted.
 */
export function findNamed(text: string, names: readonly Named[], idPrefix: string): Found {
  const exact = names.find(({ value, label }) => label === text || value === text);
  if (exact !== undefined) return { kind: 'found', value: exact.value };
  const plain = text.toLowerCase();
  const same = names.filter(({ label }) => label.toLowerCase() === plain);
  const [only] = same;
  if (only !== undefined && same.length === 1) return { kind: 'found', value: only.value };
  if (text.startsWith(idPrefix)) return { kind: 'found', value: text };
  const near = names.filter(({ label }) => label.toLowerCase().includes(plain)).map(({ label }) => label);
  const [first] = near;
  const match = names.find(({ label }) => label === first);
  if (near.length === 1 && match !== undefined) return { kind: 'found', value: match.value };
  return { kind: 'unknown', near: near.slice(0, NEAR_MAX) };
}

/** Message for a text that matches no name. */
export function unknownText(word: string, text: string, near: readonly string[]): string {
  const hint = near.length === 0 ? 'Choose one from the list.' : `Did you mean ${near.join(', ')}?`;
  return `No ${/^API /.test(word) ? word : word.toLowerCase()} is named “${text}”. ${hint}`;
}
