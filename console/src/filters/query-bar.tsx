/** Renders the query bar: a text field that completes fields and real values, and names what is wrong before it asks. */
import { Search } from 'lucide-react';
import { type KeyboardEvent, Suspense, useEffect, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { part } from '../lib/part.ts';
import { useFilters } from '../route/route.ts';
import { CONTROL } from '../ui/field.tsx';
import type { LanguageName } from './complete-query.ts';
import type { KnownValues, TakeKey } from './query-completions.tsx';
import type { TimeRange } from './time-range.ts';

const QueryCompletions = part(() => import('./query-completions.tsx'));

interface QueryBarProps {
  readonly placeholder: string;
  /** Default: that of requests. */
  readonly language?: LanguageName;
  /** Completes the values of requests in this range. Left out: only those that the page knows. */
  readonly range?: TimeRange;
  readonly known?: KnownValues;
  /** Opens a request by its complete id. */
  readonly onFind?: (id: string) => void;
}

const NONE_KNOWN: KnownValues = {};

const COMPLETE_ID = /^req_[0-9a-f]{32}$/;

export function QueryBar({ placeholder, language = 'calls', range, known = NONE_KNOWN, onFind }: QueryBarProps) {
  const [search, change] = useFilters();
  const asked = search.q ?? '';
  const [text, setText] = useState(asked);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  /** As `onActive` of the completions tells. */
  const [active, setActive] = useState<string | null | undefined>(undefined);
  const takeKey = useRef<TakeKey>(null);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const problemId = useId();
  // The address changes without the bar: a chip, a saved link, the back button.
  useEffect(() => setText(asked), [asked]);

  function close(): void {
    setOpen(false);
    setActive(undefined);
  }
  function submit(entered: string): void {
    close();
    if (onFind !== undefined && COMPLETE_ID.test(entered)) {
      onFind(entered);
      return;
    }
    // Where the language can't be loaded, the gateway checks the query.
    import('./complete-query.ts')
      .then(({ problemOf }) => problemOf(entered, language))
      .catch(() => null)
      .then((found) => {
        setProblem(found);
        if (found === null && entered !== asked) change({ q: entered });
      });
  }
  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    if (takeKey.current?.(event) !== true) {
      if (event.key === 'Enter') submit(text.trim());
      else if (event.key === 'Escape' && isOpen) close();
      else return;
    }
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
        aria-expanded={active !== undefined}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active ?? undefined}
        aria-describedby={problem === null ? undefined : problemId}
        aria-invalid={problem === null ? undefined : true}
        placeholder={placeholder}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        className={`${CONTROL} pl-8 font-mono`}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setCaret(target.selectionStart ?? target.value.length);
          setProblem(null);
          setOpen(true);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          close();
          const entered = text.trim();
          if (entered !== asked && !COMPLETE_ID.test(entered)) submit(entered);
        }}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <Suspense fallback={null}>
          <QueryCompletions
            id={list}
            text={text}
            caret={caret}
            language={language}
            range={range ?? null}
            known={known}
            takeKey={takeKey}
            onActive={setActive}
            onTake={(next, end) => {
              // Now, not in the next frame: that would move the caret under what the user types meanwhile.
              flushSync(() => {
                setText(next);
                setCaret(end);
              });
              input.current?.focus();
              input.current?.setSelectionRange(end, end);
            }}
          />
        </Suspense>
      )}
      {problem !== null && (
        <p id={problemId} role="alert" className="mt-1 text-sm text-red">
          {problem}
        </p>
      )}
    </div>
  );
}
