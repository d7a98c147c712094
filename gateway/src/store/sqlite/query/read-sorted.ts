/**
 * Lists records by the value of a column, the first page or the one after a position, by reading all matching records of
 * ranges: those that are in no chunk, or all where the chunks are not built yet.
 */
import type { Database } from 'bun:sqlite';
import type { CallOrder, SortField } from '../../../lib/query/call-order.ts';
import type { CallPlace } from '../../ports/usage.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import type { IdRange } from '../usage/find-ids.ts';
import type { Deadline } from '../usage/scan-records.ts';
import { EXPRESSIONS, type QueryValue } from './query-condition.ts';

type Kind = 'text' | 'integer' | 'real';

export const SORT_KINDS: Readonly<Record<SortField, Kind>> = {
  status: 'integer',
  model: 'text',
  provider: 'text',
  key: 'text',
  cost: 'integer',
  tokens: 'integer',
  input: 'integer',
  output: 'integer',
  ttft: 'real',
  duration: 'real',
  tps: 'real',
  attempts: 'integer',
};

/** Records without a value come last in both directions: before all values downwards, after all upwards. */
const MISSING: Readonly<Record<Kind, readonly [descending: string, ascending: string]>> = {
  integer: ['-1', '9223372036854775807'],
  real: ['-1.0', '1e300'],
  text: ["''", 'char(1114111)'],
};

/** The same as text of a place. */
export const MISSING_TEXTS: typeof MISSING = {
  integer: MISSING.integer,
  real: ['-1', '1e+300'],
  text: ['', '\u{10ffff}'],
};

export interface SortedQuestion {
  readonly order: CallOrder;
  /** Null: from the beginning. */
  readonly after: CallPlace | null;
  readonly limit: number;
  /** A condition on records, that starts without AND. */
  readonly sql: string;
  readonly parameters: readonly (QueryValue | null)[];
}

/** At most `limit` rows, and the place of the last one if there are more. @throws UsageRefusal if the time is over */
export function readSorted(
  database: Database,
  ranges: Iterable<IdRange>,
  question: SortedQuestion,
  deadline: Deadline,
): { readonly rows: readonly CallRecordRow[]; readonly next: CallPlace | null } {
  return showPlaces(database, readPlaces(database, ranges, question, deadline), question);
}

/** The rows of the first `limit` places, and the place of the last one if there are more. */
export function showPlaces(database: Database, places: readonly CallPlace[], question: SortedQuestion) {
  const shown = places.slice(0, question.limit);
  const last = shown.at(-1);
  const next = places.length > question.limit && last !== undefined ? last : null;
  return {
    rows: readRows(
      database,
      shown.map(({ id }) => id),
      question,
    ),
    next,
  };
}

/** The places of the first `limit + 1` records. @throws UsageRefusal if the time is over */
export function readPlaces(
  database: Database,
  ranges: Iterable<IdRange>,
  { order, after, limit, sql, parameters }: SortedQuestion,
  deadline: Deadline,
): readonly CallPlace[] {
  const kind = SORT_KINDS[order.by];
  const expression = order.by === 'key' ? 'key_name' : EXPRESSIONS[order.by];
  const sorted = `coalesce(${expression}, ${MISSING[kind][order.isDescending ? 0 : 1]})`;
  const [than, way] = order.isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
  const cast = kind === 'text' ? '?' : `cast(? AS ${kind})`;
  // SQLite's text of a real number has too few digits.
  const value = kind === 'integer' ? `cast(${sorted} AS TEXT)` : sorted;
  const page =
    after === null ? '' : ` AND (${sorted} ${than} ${cast} OR (${sorted} = ${cast} AND request_id ${than} ?))`;
  const read = database.prepare<{ value: string | number; id: string }, (QueryValue | null)[]>(
    `SELECT ${value} AS value, request_id AS id FROM call_record
      WHERE request_id >= ? AND request_id < ? AND ${sql}${page} ORDER BY ${sorted} ${way}, request_id ${way} LIMIT ?`,
  );
  const at = after === null || kind !== 'real' ? after?.value : Number(after.value);
  const place = after === null || at === undefined ? [] : [at, at, after.id];
  const compare = comparePlaces(order);
  let first: CallPlace[] = [];
  try {
    for (const { from, below } of ranges) {
      const found = read.all(from, below, ...parameters, ...place, limit + 1);
      const places = found.map(({ value, id }) => ({ value: String(value), id }));
      first = (first.length === 0 ? places : [...first, ...places].sort(compare)).slice(0, limit + 1);
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  return first;
}

/** The records with these ids. All meet the condition. */
export function readRows(
  database: Database,
  ids: readonly string[],
  { sql, parameters }: Pick<SortedQuestion, 'sql' | 'parameters'>,
): readonly CallRecordRow[] {
  const read = database.prepare<CallRecordRow, (QueryValue | null)[]>(
    `SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record WHERE request_id = ? AND ${sql}`,
  );
  try {
    return ids.map((id) => {
      const row = read.get(id, ...parameters);
      if (row === null) throw new Error(`the record of call ${id} is missing`);
      return row;
    });
  } finally {
    read.finalize();
  }
}

type Comparator = (one: CallPlace, other: CallPlace) => number;

/** SQLite's order: numbers by value, texts by their bytes. */
export function comparePlaces({ by, isDescending }: CallOrder): Comparator {
  const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
  const byNumber = <Value extends number | bigint>(one: Value, other: Value) =>
    one < other ? -1 : one > other ? 1 : 0;
  const byValue = {
    text: byBytes,
    integer: (one: string, other: string) => byNumber(BigInt(one), BigInt(other)),
    real: (one: string, other: string) => byNumber(Number(one), Number(other)),
  }[SORT_KINDS[by]];
  const sign = isDescending ? -1 : 1;
  return (one, other) => sign * (byValue(one.value, other.value) || byBytes(one.id, other.id));
}
