/**
 * Checks the query that is being typed and completes it: fields first, then the values of a field. Loaded when a user
 * begins to type.
 */
import {
  CALL_LANGUAGE,
  parseTerms,
  QueryError,
  renderValue,
  splitQuery,
} from '../../../gateway/src/console-api/query/parse-query.ts';
import { AUDIT_LANGUAGE } from '../../../gateway/src/lib/query/audit-query.ts';
import type { QueryFieldRow, QueryLanguage } from '../../../gateway/src/lib/query/query-language.ts';

/** The languages of query bars: over requests, and over the audit log. */
export type LanguageName = 'calls' | 'audit';
const LANGUAGES: Readonly<Record<LanguageName, QueryLanguage<string>>> = {
  calls: CALL_LANGUAGE,
  audit: AUDIT_LANGUAGE,
};

/** A known value, and what is shown beside it: the number of requests with it, or its name. */
export type KnownValue = readonly [value: string, hint: string];

/** What the text at the caret is: a part of a field's name, or of a value. */
export interface QueryPlace {
  /** Where the completed text begins and ends. */
  readonly from: number;
  readonly to: number;
  readonly typed: string;
  /** Null: a field is typed. */
  readonly field: string | null;
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
export function problemOf(text: string, language: LanguageName): string | null {
  try {
    parseTerms(text, LANGUAGES[language]);
    return null;
  } catch (fault) {
    if (fault instanceof QueryError) return fault.message;
    throw fault;
  }
}

export function placeAt(text: string, caret: number, language: LanguageName): QueryPlace {
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
    field: Object.hasOwn(LANGUAGES[language].fields, field) ? field : null,
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

/** `known`: the field's values, most frequent first; null: they are not known. */
export function completions(
  { field, typed }: QueryPlace,
  name: LanguageName,
  known: readonly KnownValue[] | null,
): readonly Completion[] {
  const language = LANGUAGES[name];
  const found = field === null ? fieldsLike(typed, language) : valuesLike({ field, typed, known }, language);
  return found.slice(0, COMPLETIONS_MAX);
}

function fieldsLike(typed: string, { fields }: QueryLanguage<string>): readonly Completion[] {
  const plain = typed.toLowerCase();
  const all = Object.entries<QueryFieldRow>(fields).filter(([name]) => name.startsWith(plain));
  return all.map(([name, { kind, about }]) => {
    const isRange = kind !== 'text' && kind !== 'choice' && kind !== 'status' && kind !== 'date';
    // The name of the tag follows.
    const operator = name === 'tag' ? '.' : isRange ? '>' : ':';
    return { text: `${name}${operator}`, label: name, hint: about };
  });
}

function valuesLike(
  { field, typed, known }: { field: string; typed: string; known: readonly KnownValue[] | null },
  { fields, choices }: QueryLanguage<string>,
): readonly Completion[] {
  const plain = typed.toLowerCase();
  const fixed = choices[field] ?? (fields[field]?.kind === 'status' ? ['2xx', '4xx', '429', '5xx'] : []);
  const values = known ?? fixed.map((choice): KnownValue => [choice, '']);
  return values
    .filter(([value, hint]) => `${value} ${hint}`.toLowerCase().includes(plain) && value !== typed)
    .map(([value, hint]) => ({ text: `${renderValue(value)} `, label: value, hint }));
}
