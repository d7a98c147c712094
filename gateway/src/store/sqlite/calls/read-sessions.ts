/**
 * Lists sessions by the chunks of their account and by the records that are in none: first the sessions with the newest
 * calls, then the sums of those. Before the chunks are built, or where they cannot answer, every record is read.
 */
import type { Database } from 'bun:sqlite';
import type { QueryTerm } from '../../../lib/query/call-query.ts';
import type { SessionSums, SessionsPage, SessionsQuestion } from '../../ports/calls/sessions.ts';
import type { ColumnValue } from '../chunks/chunk-column.ts';
import { CHUNK_FIELDS, type ChunkField } from '../chunks/chunk-fields.ts';
import { chunkTerms } from '../chunks/chunk-terms.ts';
import { type Chunk, type ChunkSpan, idOf, matchRows, unchunkedCondition, withChunks } from '../chunks/read-chunks.ts';
import { ALL_IDS, matchingCalls, matchingRanges } from '../query/log-ranges.ts';
import type { Condition } from '../usage/conditions.ts';
import type { IdRange } from '../usage/find-ids.ts';
import type { Deadline } from '../usage/scan-records.ts';

/** Rows between two checks of the clock. */
const PAGE_ROWS = 2_000;

const SUMMED = [
  'session',
  'at',
  'duration',
  'outcome',
  'cost',
  'input',
  'cache',
  'output',
  'model',
  'key_name',
] as const satisfies readonly ChunkField[];

type Summed = Readonly<Record<(typeof SUMMED)[number], ColumnValue | null>>;
type Sums = { -readonly [Member in keyof Omit<SessionSums, 'models' | 'keys'>]: SessionSums[Member] } & {
  readonly models: Set<string>;
  readonly keys: Set<string>;
};

/** @throws UsageRefusal if the time is over */
export function readSessions(database: Database, question: SessionsQuestion, deadline: Deadline): SessionsPage {
  const { beforeId, limit, condition } = question;
  const records = openRecords(database, withTerm(question, { isNot: true, texts: [null] }), deadline);
  // One session is in no order.
  const before = condition.session === null ? beforeId : null;
  const newest = records.newest(before, limit + 1);
  const shown = newest.slice(0, limit);
  const last = shown.at(-1);
  return {
    sessions: sumUp(database, question, shown, deadline),
    next: newest.length > limit && last !== undefined ? last[1] : null,
  };
}

function sumUp(
  database: Database,
  question: SessionsQuestion,
  shown: readonly NewestCall[],
  deadline: Deadline,
): SessionSums[] {
  if (shown.length === 0) return [];
  const sums = new Map(shown.map(([session, lastId]) => [session, noSums(session, lastId)]));
  const texts = shown.map(([text]) => ({ text, isPrefix: false }));
  openRecords(database, withTerm(question, { isNot: false, texts }), deadline).each((record) => {
    const own = sums.get(String(record.session));
    if (own !== undefined) addRecord(own, record);
  });
  return [...sums.values()].map(({ models, keys, ...own }) => ({
    ...own,
    models: [...models].sort(),
    keys: [...keys].sort(),
  }));
}

function withTerm(question: SessionsQuestion, term: Pick<QueryTerm, 'isNot' | 'texts'>): SessionsQuestion {
  const { terms = [] } = question;
  return { ...question, beforeId: null, terms: [...terms, { field: 'session', ranges: [], ...term }] };
}

type NewestCall = readonly [session: string, id: string];

interface Records {
  /** The first `count` sessions whose newest call is before an id, with that call, the newest first. */
  newest(before: string | null, count: number): readonly NewestCall[];
  /** Every record, in no order. */
  each(take: (record: Summed) => void): void;
}

/** The records that a question covers. */
function openRecords(database: Database, question: SessionsQuestion, deadline: Deadline): Records {
  const { tenant, fromMs, toMs, idPrefix, traceId, reason } = question;
  const own = matchingCalls(question);
  const isChunked = idPrefix === null && traceId === undefined && reason === undefined;
  const unchunked = isChunked ? unchunkedCondition(database, tenant.account) : null;
  const loose: Condition =
    unchunked === null
      ? own
      : { sql: `${unchunked.sql} AND ${own.sql}`, parameters: [...unchunked.parameters, ...own.parameters] };
  const span: ChunkSpan = { account: tenant.account, fromMs: fromMs ?? 0, toMs: toMs ?? Number.MAX_SAFE_INTEGER };
  const terms = chunkTerms(question);
  const ranges = () => (unchunked === null ? matchingRanges(database, question) : [ALL_IDS]);
  const withOwnChunks = (use: (chunks: readonly Chunk[]) => void) => {
    if (unchunked !== null) withChunks(database, span, use);
  };
  return {
    newest(before, count) {
      const found = new NewestCalls(before, count);
      scan<{ session: string }>(database, ranges(), { fields: ['session'], ...loose }, deadline, ({ session, id }) =>
        found.add(session, id),
      );
      withOwnChunks((chunks) => {
        for (const chunk of chunks) {
          deadline.check();
          if (found.areAfter(chunk.lastId)) break;
          const rows = matchRows(chunk, span, terms);
          if (rows !== null) addRows(found, chunk, rows);
        }
      });
      return found.first();
    },
    each(take) {
      scan<Summed>(database, ranges(), { fields: SUMMED, ...loose }, deadline, take);
      withOwnChunks((chunks) => {
        for (const chunk of chunks) {
          deadline.check();
          const rows = matchRows(chunk, span, terms);
          if (rows !== null) eachRow(chunk, rows, take);
        }
      });
    },
  };
}

/** Collects the sessions whose newest call is before an id. */
class NewestCalls {
  readonly #before: string | null;
  readonly #count: number;
  readonly #found = new Map<string, string>();
  /** Sessions with a call at that id or after it. */
  readonly #later = new Set<string>();

  constructor(before: string | null, count: number) {
    this.#before = before;
    this.#count = count;
  }

  /** Whether an id is not before the page. */
  isLater(id: string): boolean {
    return this.#before !== null && id >= this.#before;
  }

  add(session: string, id: string): void {
    if (this.isLater(id)) {
      this.#later.add(session);
      this.#found.delete(session);
    } else if (!this.#later.has(session) && (this.#found.get(session) ?? '') < id) this.#found.set(session, id);
  }

  /** The newest call first. */
  first(): readonly NewestCall[] {
    return [...this.#found].sort(([, one], [, other]) => (one < other ? 1 : -1)).slice(0, this.#count);
  }

  /** Whether the first sessions are found, and all have calls after an id. */
  areAfter(id: string): boolean {
    if (this.#found.size < this.#count || this.isLater(id)) return false;
    return (this.first()[this.#count - 1]?.[1] ?? '') > id;
  }
}

/** Rows are in the order of their ids: the last of a code has the newest call of its session. */
function addRows(found: NewestCalls, chunk: Chunk, rows: Uint8Array): void {
  const column = chunk.column('session');
  const lastRows = new Int32Array(column.count + 1).fill(-1);
  for (let row = 0; row < rows.length; row++) if (rows[row] === 1) lastRows[column.codes[row] ?? 0] = row;
  // Of sessions that are all later, ids do not matter.
  const ids = found.isLater(chunk.firstId) ? null : chunk.column('id');
  for (const [code, row] of lastRows.entries()) {
    if (row !== -1) found.add(String(column.valueOf(code)), ids === null ? chunk.firstId : idOf(ids, row));
  }
}

function eachRow(chunk: Chunk, rows: Uint8Array, take: (record: Summed) => void): void {
  const columns = SUMMED.map((field) => [field, chunk.column(field)] as const);
  for (let row = 0; row < rows.length; row++) {
    if (rows[row] === 0) continue;
    const values = columns.map(([field, column]) => [field, column.valueOf(column.codes[row] ?? 0)] as const);
    // The names are those of `SUMMED`.
    take(Object.fromEntries(values) as Summed);
  }
}

function scan<Row>(
  database: Database,
  ranges: Iterable<IdRange>,
  { fields, sql, parameters }: Condition & { readonly fields: readonly ChunkField[] },
  deadline: Deadline,
  take: (record: Row & { readonly id: string }) => void,
): void {
  const columns = fields.map((field) => `${CHUNK_FIELDS[field].sql} AS ${field}`).join(', ');
  const read = database.prepare<Row & { readonly id: string }, (string | number | null)[]>(
    `SELECT request_id AS id, ${columns} FROM call_record
      WHERE request_id >= ? AND request_id < ? AND ${sql} ORDER BY request_id DESC LIMIT ${PAGE_ROWS}`,
  );
  try {
    for (const { from, below: end } of ranges) {
      for (let below: string | null = end; below !== null; ) {
        const rows = read.all(from, below, ...parameters);
        for (const row of rows) take(row);
        below = rows.length < PAGE_ROWS ? null : (rows.at(-1)?.id ?? null);
        deadline.check();
      }
    }
  } finally {
    read.finalize();
  }
}

function noSums(session: string, lastId: string): Sums {
  const none = { requests: 0, errors: 0, cost: 0n, unpriced: 0, input: 0, cacheRead: 0, output: 0 };
  const sets = { models: new Set<string>(), keys: new Set<string>() };
  return { session, lastId, firstMs: Number.POSITIVE_INFINITY, endMs: 0, ...none, ...sets };
}

function addRecord(sums: Sums, record: Summed): void {
  const atMs = Number(record.at);
  sums.firstMs = Math.min(sums.firstMs, atMs);
  sums.endMs = Math.max(sums.endMs, atMs + Number(record.duration));
  sums.requests += 1;
  if (record.outcome === 'client_error' || record.outcome === 'server_error') sums.errors += 1;
  if (record.cost === null) sums.unpriced += 1;
  else sums.cost += BigInt(record.cost);
  sums.input += Number(record.input);
  sums.cacheRead += Number(record.cache);
  sums.output += Number(record.output);
  if (record.model !== null) sums.models.add(String(record.model));
  sums.keys.add(String(record.key_name));
}
