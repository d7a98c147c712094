/**
 * Checks the query that is being typed and completes it: fields first, then the values of a field. Loaded when a user
 * begins to type.
 */
import {
  parseQuery,
  QUERY_CHOICES,
  QueryError,
  renderValue,
  splitQuery,
} from '../../../gateway/src/console-api/query/parse-query.ts';
import { QUERY_FIELDS, type QueryField } from '../../../gateway/src/lib/query/call-query.ts';

/** What the text at the caret is: a part of a field's name, or of a value. */
export interface QueryPlace {
  /** Where the completed text begins and ends. */
  readonly from: number;
  readonly to: number;
  readonly typed: string;
  /** Null: a field is typed. */
  readonly field: QueryField | null;
}

export interface Completion {
  /** Replaces the text of the place. */
  readonly text: string;
  readonly label: string;
  /** A field's meaning, or the number of requests with a value. */
  readonly hint: string;
}

const COMPLETIONS_MAX = 12;

/** Null: the query is valid. */
export function problemOf(text: string): string | null {
  try {
    parseQuery(text);
    return null;
  } catch (fault) {
    if (fault instanceof QueryError) return fault.message;
    throw fault;
  }
}

export function placeAt(text: string, caret: number): QueryPlace {
  const part = splitQuery(text).find(({ at, text: word }) => at <= caret && caret <= at + word.length);
  if (part === undefined) return { from: caret, to: caret, typed: '', field: null };
  const word = part.text.slice(0, caret - part.at);
  const found = /^(-?)([a-z_]*)(:|>=|<=|>|<)/i.exec(word);
  const end = part.at + part.text.length;
  if (found === null) {
    const minus = word.startsWith('-') ? 1 : 0;
    return { from: part.at + minus, to: end, typed: word.slice(minus), field: null };
  }
  const field = found[2]?.toLowerCase() ?? '';
  // The last value of a list.
  const start = Math.max(found[0].length, lastComma(word) + 1);
  const typed = word.slice(start).replace(/^"/, '');
  return {
    from: part.at + start,
    to: end,
    typed,
    field: Object.hasOwn(QUERY_FIELDS, field) ? (field as QueryField) : null,
  };
}

/** The last comma outside quotes; -1: none. */
function lastComma(word: string): number {
  let last = -1;
  let isQuoted = false;
  for (const [at, character] of [...word].entries()) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === ',' && !isQuoted) last = at;
  }
  return last;
}

/** `known`: the values of the range with their number of requests, most first; null: they are not known. */
export function completions(place: QueryPlace, known: readonly (readonly [value: string, requests: number])[] | null) {
  return (place.field === null ? fieldsLike(place.typed) : valuesLike(place.field, place.typed, known)).slice(
    0,
    COMPLETIONS_MAX,
  );
}

function fieldsLike(typed: string): readonly Completion[] {
  const plain = typed.toLowerCase();
  const all = Object.entries(QUERY_FIELDS).filter(([name]) => name.startsWith(plain));
  return all.map(([name, { kind, about }]) => {
    const isRange = kind !== 'text' && kind !== 'choice' && kind !== 'status';
    return { text: `${name}${isRange ? '>' : ':'}`, label: name, hint: about };
  });
}

function valuesLike(
  field: QueryField,
  typed: string,
  known: readonly (readonly [value: string, requests: number])[] | null,
): readonly Completion[] {
  const plain = typed.toLowerCase();
  const choices = QUERY_CHOICES[field] ?? (field === 'status' ? ['2xx', '4xx', '429', '5xx'] : []);
  const values = known ?? choices.map((choice) => [choice, null] as const);
  return values
    .filter(([value]) => value.toLowerCase().includes(plain) && value !== typed)
    .map(([value, requests]) => ({
      text: `${renderValue(value)} `,
      label: value,
      hint: requests === null ? '' : requests.toLocaleString('en'),
    }));
}
