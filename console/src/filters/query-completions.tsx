/** Renders the completions of the query bar and takes its keys. Loaded when a user begins to type. */
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import type { Query } from '../../../gateway/src/console-api/contract/contract.ts';
import { useReply } from '../lib/queries.ts';
import { useAccount } from '../lib/session.ts';
import { classNames } from '../ui/class-names.ts';
import {
  type Completion,
  completions,
  type KnownValue,
  type LanguageName,
  placeAt,
  type QueryPlace,
} from './complete-query.ts';
import type { TimeRange } from './time-range.ts';

/** The values of fields that the page knows itself. */
export type KnownValues = Readonly<Record<string, readonly KnownValue[]>>;

/** Returns whether it used the key. */
export type TakeKey = (event: KeyboardEvent) => boolean;

interface QueryCompletionsProps {
  readonly id: string;
  readonly text: string;
  readonly caret: number;
  readonly language: LanguageName;
  /** Values are those of requests in this range; null: `known` has them. */
  readonly range: TimeRange | null;
  readonly known: KnownValues;
  readonly takeKey: RefObject<TakeKey | null>;
  /** The id of the chosen completion; null: no choice yet; undefined: no completions. */
  readonly onActive: (option: string | null | undefined) => void;
  readonly onTake: (text: string, caret: number) => void;
}

export default function QueryCompletions({
  id,
  text,
  caret,
  language,
  range,
  known,
  takeKey,
  onActive,
  onTake,
}: QueryCompletionsProps) {
  /** Null: Enter asks; a number: it takes the completion. */
  const [at, setAt] = useState<number | null>(null);
  const place = placeAt(text, caret, language);
  const counted = useValues(place.field, range);
  const found = completions(place, language, known[place.field ?? ''] ?? counted);
  const chosen = at === null ? undefined : found[at];
  const active = found.length === 0 ? undefined : chosen === undefined ? null : `${id}-${at}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has other completions
  useEffect(() => setAt(null), [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each change, not for each render
  useEffect(() => onActive(active), [active]);
  const take = (completion: Completion) => {
    const { next, end } = insert(text, place, completion);
    onTake(next, end);
  };
  takeKey.current = ({ key, shiftKey }) => {
    if (key === 'ArrowDown' && found.length > 0) setAt(at === null ? 0 : Math.min(found.length - 1, at + 1));
    else if (key === 'ArrowUp' && at !== null) setAt(at === 0 ? null : at - 1);
    else if ((key === 'Enter' || (key === 'Tab' && !shiftKey)) && chosen !== undefined) take(chosen);
    else return false;
    return true;
  };
  useEffect(
    () => () => {
      takeKey.current = null;
    },
    [takeKey],
  );
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Completions"
      hidden={found.length === 0}
      className="absolute inset-x-0 top-9 z-30 max-h-80 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-float"
    >
      {found.map((one, nth) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field keeps the focus and handles the keys
        <div
          key={one.text}
          id={`${id}-${nth}`}
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
  );
}

/** A space follows a value at the end of the text; elsewhere one is there. */
function insert(text: string, { from, to }: QueryPlace, completion: Completion) {
  const rest = text.slice(to);
  const added = rest.startsWith(' ') ? completion.text.trimEnd() : completion.text;
  return { next: text.slice(0, from) + added + rest, end: from + added.length };
}

type Dimension = 'model' | 'provider' | 'key' | 'member' | 'workspace' | 'end_user' | 'session' | 'protocol';

const DIMENSIONS: Readonly<Record<string, Dimension>> = {
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
function useValues(field: string | null, range: TimeRange | null): readonly KnownValue[] | null {
  const { account } = useAccount();
  const by = field === null || range === null ? undefined : DIMENSIONS[field];
  const { from, to } = range ?? { from: '', to: '' };
  const query: Query<'GET /accounts/{account}/usage'> = { from, to, by: by ?? 'model', metric: 'requests' };
  const { data } = useReply(
    'GET /accounts/{account}/usage',
    { path: { account }, query },
    { enabled: by !== undefined },
  );
  if (by === undefined || data === undefined) return null;
  return data.groups.flatMap(({ values: [value], labels: [label], sums }) =>
    value === null || value === undefined ? [] : [[label ?? value, sums.requests.toLocaleString('en')]],
  );
}
