/**
 * Parses the text of the query bar: `key:prod duration>10s status:5xx -model:claude* "rate limit"`. Runs in the gateway
 * and in the console, for the list of requests and for the audit log.
 */

import { chooseNearName } from '../../errors/near-name.ts';
import { REASON_KINDS } from '../../errors/reason.ts';
import {
  QUERY_FIELDS,
  type QueryField,
  type QueryTerm,
  type QueryWord,
  type RangeTest,
  type TextTest,
} from '../../lib/query/call-query.ts';
import type { QueryKind, QueryLanguage } from '../../lib/query/query-language.ts';
import { RECORDED_PROTOCOLS } from '../../protocols/names.ts';

export const QUERY_CHARS_MAX = 2_000;
const TERMS_MAX = 40;
const VALUES_MAX = 100;

/** The values of fields that accept no others. */
const QUERY_CHOICES: Readonly<Partial<Record<QueryField, readonly string[]>>> = {
  protocol: RECORDED_PROTOCOLS,
  stream: ['yes', 'no'],
  cached: ['yes', 'no'],
  outcome: ['ok', 'client_error', 'server_error', 'cancelled'],
  reason: REASON_KINDS,
};

/** What is wrong with a query, and its place in the text. */
export interface QueryProblem {
  readonly at: number;
  readonly length: number;
  readonly message: string;
}

/** A part of a query with its place in the text. */
export interface QueryPart {
  readonly at: number;
  readonly text: string;
}

export class QueryError extends Error {
  readonly problem: QueryProblem;

  constructor({ at, text }: QueryPart, message: string) {
    super(message);
    this.name = 'QueryError';
    this.problem = { at, length: text.length, message };
  }
}

/** A word ends at a space outside quotes. */
const WORD = /(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g;
const TERM = /^(-?)([A-Za-z_]*(?:\.[A-Za-z0-9_.-]*)?)(:|>=|<=|>|<)(.*)$/s;
const TAG = 'tag';

export function splitQuery(text: string): readonly QueryPart[] {
  return [...text.matchAll(WORD)].map((found) => ({ at: found.index, text: found[0] }));
}

/** The queries over requests. */
export const CALL_LANGUAGE: QueryLanguage<QueryField> = { fields: QUERY_FIELDS, choices: QUERY_CHOICES, ids: 'id' };

export interface ParsedQuery<Field extends string = QueryField> {
  readonly terms: readonly QueryTerm<Field>[];
  /** Words without a field: for the text of stored bodies. */
  readonly words: readonly QueryWord[];
}

/** @throws QueryError that names the first invalid part */
export function parseQuery(text: string): ParsedQuery {
  return parseTerms(text, CALL_LANGUAGE);
}

/** The same for the fields of another language. @throws QueryError that names the first invalid part */
export function parseTerms<Field extends string>(text: string, language: QueryLanguage<Field>): ParsedQuery<Field> {
  if (text.length > QUERY_CHARS_MAX) {
    const rest = { at: QUERY_CHARS_MAX, text: text.slice(QUERY_CHARS_MAX) };
    throw new QueryError(rest, `found ${text.length} characters, expected at most ${QUERY_CHARS_MAX}`);
  }
  const parts = splitQuery(text);
  const tooMany = parts[TERMS_MAX];
  if (tooMany !== undefined) throw new QueryError(tooMany, `found more than ${TERMS_MAX} terms, expected fewer`);
  const terms: QueryTerm<Field>[] = [];
  const words: QueryWord[] = [];
  for (const part of parts) {
    const found = TERM.exec(part.text);
    if (language.ids === null) {
      if (found === null) throw new QueryError(part, `found ${quote(part.text)}, expected ${fieldHint('', language)}`);
      terms.push(parseTerm(part, found, language));
      continue;
    }
    // Users may paste an id without its prefix.
    const [, digits] = /^(?:req_)?([0-9a-f]{6,120})$/.exec(part.text) ?? [];
    if (digits !== undefined) terms.push(textTerm(language.ids, false, [{ text: `req_${digits}`, isPrefix: true }]));
    else if (found === null) words.push(wordOf(part));
    else terms.push(parseTerm(part, found, language));
  }
  return { terms, words };
}

function wordOf(part: QueryPart): QueryWord {
  const isNot = part.text.startsWith('-') && part.text.length > 1;
  const minus = isNot ? 1 : 0;
  // A word is found anywhere in the text, so that an asterisk after it says nothing more.
  const { text } = readQuoted('text', { at: part.at + minus, text: part.text.slice(minus) });
  if (text.trim() === '') throw new QueryError(part, `found ${quote(part.text)}, expected a word or field:value`);
  return { text, isNot };
}

function parseTerm<Field extends string>(
  part: QueryPart,
  found: RegExpExecArray,
  language: QueryLanguage<Field>,
): QueryTerm<Field> {
  const [, minus, name = '', operator = '', written = ''] = found;
  const [field, tag] = fieldOf(part, name.toLowerCase(), language);
  const isNot = minus === '-';
  const values = { at: part.at + part.text.length - written.length, text: written };
  if (written === '') throw new QueryError(part, `${field}: found no value, expected ${exampleOf(field, language)}`);
  const { kind } = language.fields[field];
  const isText = kind === 'text' || kind === 'choice';
  if (operator !== ':') {
    if (isText) throw new QueryError(part, `${field}: found ${operator}, expected ${field}:value`);
    const bound = numberOf(field, values, language);
    const isOpen = !operator.endsWith('=');
    const range = operator.startsWith('>') ? { from: bound, to: null, isOpen } : { from: null, to: bound, isOpen };
    return { field, isNot, texts: [], ranges: [range] };
  }
  const listed = splitValues(values);
  if (listed.length > VALUES_MAX) {
    throw new QueryError(values, `${field}: found ${listed.length} values, expected at most ${VALUES_MAX}`);
  }
  if (isText) {
    const texts = listed.map((value) => textOf(field, value, language));
    const term = textTerm(field, isNot, texts);
    return tag === null ? term : { ...term, tag };
  }
  const [none, numbers] = [listed.filter(isNone), listed.filter((value) => !isNone(value))];
  return {
    field,
    isNot,
    texts: none.length > 0 ? [null] : [],
    ranges: numbers.map((value) => rangeOf(field, value, language)),
  };
}

const textTerm = <Field extends string>(
  field: Field,
  isNot: boolean,
  texts: readonly TextTest[],
): QueryTerm<Field> => ({ field, isNot, texts, ranges: [] });

/** The field, and with `tag.<name>` the name of the tag. */
function fieldOf<Field extends string>(
  part: QueryPart,
  name: string,
  language: QueryLanguage<Field>,
): readonly [Field, tag: string | null] {
  if (Object.hasOwn(language.fields, TAG)) {
    if (name === TAG || name === `${TAG}.`) {
      throw new QueryError(part, 'tag: found no name, expected tag.name:value, such as tag.team:web');
    }
    if (name.startsWith(`${TAG}.`)) return [TAG as Field, name.slice(TAG.length + 1)];
  }
  if (Object.hasOwn(language.fields, name)) return [name as Field, null];
  throw new QueryError(part, `found the field ${quote(name)}, expected ${fieldHint(name, language)}`);
}

function fieldHint<Field extends string>(name: string, { fields, ids }: QueryLanguage<Field>): string {
  const names = Object.keys(fields);
  const near = chooseNearName(name, names);
  if (near !== null) return `${near}?`;
  const list = `one of ${names.join(', ')}`;
  if (ids === null) return name === '' ? `field:value with ${list}` : list;
  return `${list}, or quotes around a text to search`;
}

/** Values are separated by commas outside quotes. */
function splitValues({ at, text }: QueryPart): readonly QueryPart[] {
  const values: QueryPart[] = [];
  let start = 0;
  let isQuoted = false;
  for (let end = 0; end <= text.length; end++) {
    const character = text[end];
    if (isQuoted && character === '\\') end += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (end >= text.length || (character === ',' && !isQuoted)) {
      values.push({ at: at + start, text: text.slice(start, end) });
      start = end + 1;
    }
  }
  if (start <= text.length && values.length === 0) values.push({ at, text });
  return values;
}

const NONE_WORD = 'none';
const isNone = ({ text }: QueryPart) => text === NONE_WORD;

function textOf<Field extends string>(field: Field, value: QueryPart, language: QueryLanguage<Field>): TextTest {
  const { text: written } = value;
  if (written === '')
    throw new QueryError(value, `${field}: found an empty value, expected ${exampleOf(field, language)}`);
  const choices = language.choices[field];
  if (choices === undefined && isNone(value)) return null;
  const { text, isPrefix } = readQuoted(field, value);
  if (choices === undefined) return { text, isPrefix };
  const known = isPrefix ? choices.some((choice) => choice.startsWith(text)) : choices.includes(text);
  if (known) return { text, isPrefix };
  const near = chooseNearName(text, choices);
  throw new QueryError(
    value,
    `${field}: found ${quote(text)}, expected ${near === null ? `one of ${choices.join(', ')}` : `${near}?`}`,
  );
}

/** The value without its quotes, and whether an asterisk follows. */
function readQuoted(name: string, value: QueryPart): NonNullable<TextTest> {
  const { text: written } = value;
  const isQuoted = written.startsWith('"');
  if (isQuoted && !/^"(?:[^"\\]|\\.)*"\*?$/s.test(written)) {
    throw new QueryError(value, `${name}: found ${quote(written)}, expected a quote at its end`);
  }
  const isPrefix = written.endsWith('*') && (isQuoted ? written.endsWith('"*') : true);
  const bare = isPrefix ? written.slice(0, -1) : written;
  return { text: isQuoted ? bare.slice(1, -1).replace(/\\(.)/gs, '$1') : bare, isPrefix };
}

function rangeOf<Field extends string>(field: Field, value: QueryPart, language: QueryLanguage<Field>): RangeTest {
  const classOf = language.fields[field].kind === 'status' ? /^([1-5])xx$/i.exec(value.text) : null;
  if (classOf !== null) {
    const from = Number(classOf[1]) * 100;
    return { from, to: from + 99, isOpen: false };
  }
  const dots = value.text.indexOf('..');
  if (dots === -1) {
    const exact = numberOf(field, value, language);
    return { from: exact, to: exact, isOpen: false };
  }
  const left = { at: value.at, text: value.text.slice(0, dots) };
  const right = { at: value.at + dots + 2, text: value.text.slice(dots + 2) };
  if (left.text === '' && right.text === '') throw numberError(field, value, language);
  const from = left.text === '' ? null : numberOf(field, left, language);
  const to = right.text === '' ? null : numberOf(field, right, language);
  if (from !== null && to !== null && from > to) {
    throw new QueryError(value, `${field}: found ${quote(value.text)}, expected the smaller number first`);
  }
  return { from, to, isOpen: false };
}

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const THOUSANDS: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };
const NANO_DIGITS = 9;

function numberOf<Field extends string>(
  field: Field,
  value: QueryPart,
  language: QueryLanguage<Field>,
): number | bigint {
  const number = readNumber(language.fields[field].kind, value.text.toLowerCase());
  if (number === null) throw numberError(field, value, language);
  return number;
}

/** Null: the text is not a number of this kind. */
function readNumber(kind: QueryKind, text: string): number | bigint | null {
  switch (kind) {
    case 'status':
      return /^[1-5]\d\d$/.test(text) ? Number(text) : null;
    case 'money': {
      const [, whole, part = ''] = /^\$?(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
      return whole === undefined ? null : BigInt(whole + part.padEnd(NANO_DIGITS, '0'));
    }
    case 'count': {
      const [, digits, unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?)([km]?)$/.exec(text) ?? [];
      const count = digits === undefined ? null : Math.round(Number(digits) * 1_000_000 * (THOUSANDS[unit] ?? 1));
      return count === null || count % 1_000_000 !== 0 ? null : count / 1_000_000;
    }
    case 'duration': {
      const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)$/.exec(text) ?? [];
      return digits === undefined ? null : Number(digits) * (DURATION_MS[unit] ?? 1);
    }
    case 'rate':
      return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : null;
    case 'date': {
      const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
      // A date such as February 31 overflows into the next month.
      return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? null : ms;
    }
    default:
      return null;
  }
}

const EXAMPLES: Readonly<Record<QueryKind, string>> = {
  text: 'a value, such as {}:prod, {}:prod* or {}:"two words"',
  choice: 'a value, such as {}:{choice}',
  status: 'a status, such as {}:429, {}:5xx or {}>=400',
  money: 'US dollars, such as {}>0.05 or {}:0.01..0.5',
  count: 'a whole number, such as {}>500, {}>12k or {}:1..3',
  duration: 'a duration with its unit, such as {}>250ms or {}:1s..2m',
  rate: 'a number, such as {}<20',
  date: 'a day, such as {}:2026-11-21, {}>=2026-11-01 or {}:2026-11-01..2026-11-21',
};

function exampleOf<Field extends string>(field: Field, { fields, choices }: QueryLanguage<Field>): string {
  const example = EXAMPLES[fields[field].kind].replaceAll('{}', field);
  return example.replace('{choice}', choices[field]?.[0] ?? 'prod');
}

const numberError = <Field extends string>(field: Field, value: QueryPart, language: QueryLanguage<Field>) =>
  new QueryError(value, `${field}: found ${quote(value.text)}, expected ${exampleOf(field, language)}`);

const quote = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The value as a query writes it, in quotes where it needs them. */
export function renderValue(value: string): string {
  const isPlain = /^[^\s",\\]+$/.test(value) && !value.endsWith('*') && value !== NONE_WORD;
  return isPlain ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}
