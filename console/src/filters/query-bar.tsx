/** Renders the query bar: a text field that completes fields and real values, and names what is wrong before it asks. */
import { Search } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { Query } from '../../../gateway/src/console-api/contract/contract.ts';
import { parseQuery, QueryError } from '../../../gateway/src/console-api/query/parse-query.ts';
import type { QueryField } from '../../../gateway/src/lib/query/call-query.ts';
import { useReply } from '../lib/queries.ts';
import { useAccount } from '../lib/session.ts';
import { useFilters } from '../route/route.ts';
import { classNames } from '../ui/class-names.ts';
import { CONTROL } from '../ui/field.tsx';
import { type Completion, completions, placeAt, type QueryPlace } from './complete-query.ts';
import type { TimeRange } from './time-range.ts';

interface QueryBarProps {
  readonly range: TimeRange;
  /** Opens a request by its complete id. */
  readonly onFind: (id: string) => void;
}

const COMPLETE_ID = /^req_[0-9a-f]{32}$/;

export function QueryBar({ range, onFind }: QueryBarProps) {
  const [search, change] = useFilters();
  const asked = search.q ?? '';
  const [text, setText] = useState(asked);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  /** Null: Enter asks; a number: it takes the completion. */
  const [at, setAt] = useState<number | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const problemId = useId();
  // The address changes without the bar: a chip, a saved link, the back button.
  useEffect(() => setText(asked), [asked]);
  const place = placeAt(text, caret);
  const known = useValues(isOpen ? place.field : null, range);
  const found = isOpen ? completions(place, known) : [];
  const problem = isOpen ? null : problemOf(text);

  function submit(entered: string): void {
    setOpen(false);
    setAt(null);
    if (COMPLETE_ID.test(entered)) onFind(entered);
    else if (problemOf(entered) === null) change({ q: entered });
  }
  function take(completion: Completion): void {
    const { next, end } = insert(text, place, completion);
    setText(next);
    setCaret(end);
    setAt(null);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(end, end);
    });
  }
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    const chosen = at === null ? undefined : found[at];
    if (event.key === 'Enter' && chosen === undefined) submit(text.trim());
    else if (event.key === 'Escape' && isOpen) setOpen(false);
    else if (event.key === 'ArrowDown' && found.length > 0) setAt(at === null ? 0 : Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp' && at !== null) setAt(at === 0 ? null : at - 1);
    else if ((event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey)) && chosen !== undefined) take(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="relative w-full sm:min-w-96 sm:flex-1">
      <Search size={14} aria-hidden="true" className="absolute top-2.25 left-2.5 text-ink-3" />
      <input
        ref={input}
        role="combobox"
        data-filter
        aria-label="Query"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={at === null || found[at] === undefined ? undefined : `${list}-${at}`}
        aria-describedby={problem === null ? undefined : problemId}
        aria-invalid={problem === null ? undefined : true}
        placeholder="status:5xx duration>10s model:claude*, or a request ID"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        className={`${CONTROL} pl-8 font-mono`}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setCaret(target.selectionStart ?? target.value.length);
          setOpen(true);
          setAt(null);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          setOpen(false);
          setAt(null);
          if (text.trim() !== asked && problemOf(text) === null && !COMPLETE_ID.test(text.trim())) submit(text.trim());
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={list}
        role="listbox"
        aria-label="Completions"
        hidden={found.length === 0}
        className="absolute inset-x-0 top-9 z-30 max-h-80 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-float"
      >
        {found.map((one, nth) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and handles the keys
          <div
            key={one.text}
            id={`${list}-${nth}`}
            role="option"
            tabIndex={-1}
            aria-selected={nth === at}
            className={classNames(
              'flex h-8 cursor-pointer items-center gap-3 rounded-sm px-2 hover:bg-hover',
              nth === at && 'bg-hover',
            )}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(one)}
          >
            <span className="min-w-0 truncate font-mono">{one.label}</span>
            <span className="figures ml-auto shrink-0 text-ink-2">{one.hint}</span>
          </div>
        ))}
      </div>
      {problem !== null && (
        <p id={problemId} role="alert" className="mt-1 text-sm text-red">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Null: the query is valid. */
function problemOf(text: string): string | null {
  try {
    parseQuery(text);
    return null;
  } catch (fault) {
    if (fault instanceof QueryError) return fault.message;
    throw fault;
  }
}

/** A space follows a value at the end of the text; elsewhere one is there. */
function insert(text: string, { from, to }: QueryPlace, completion: Completion) {
  const rest = text.slice(to);
  const added = rest.startsWith(' ') ? completion.text.trimEnd() : completion.text;
  return { next: text.slice(0, from) + added + rest, end: from + added.length };
}

type Dimension = 'model' | 'provider' | 'key' | 'member' | 'workspace' | 'end_user' | 'session' | 'protocol';

const DIMENSIONS: Readonly<Partial<Record<QueryField, Dimension>>> = {
  model: 'model',
  provider: 'provider',
  key: 'key',
  member: 'member',
  workspace: 'workspace',
  user: 'end_user',
  session: 'session',
  protocol: 'protocol',
};

/** The field's values in the range with their number of requests, most first; null: not known, or not yet. */
function useValues(field: QueryField | null, { from, to }: TimeRange) {
  const { account } = useAccount();
  const by = field === null ? undefined : DIMENSIONS[field];
  const query: Query<'GET /accounts/{account}/usage'> = { from, to, by: by ?? 'model', metric: 'requests' };
  const { data } = useReply(
    'GET /accounts/{account}/usage',
    { path: { account }, query },
    { enabled: by !== undefined },
  );
  if (by === undefined || data === undefined) return null;
  return data.groups.flatMap(({ values: [value], labels: [label], sums }) =>
    value === null || value === undefined ? [] : [[label ?? value, sums.requests] as const],
  );
}
