/**
 * Reads an account's chunks and the records that are in none yet. Only columns that a question names are read, and only
 * of chunks that can contain its records.
 */
import type { Database } from 'bun:sqlite';
import type { Condition } from '../usage/conditions.ts';
import { type ChunkColumn, openColumn } from './chunk-column.ts';
import { type ChunkField, columnId } from './chunk-fields.ts';
import type { ChunkTerm } from './chunk-terms.ts';

export interface Chunk {
  readonly rows: number;
  /** Of its first and last row: they are in the order of their ids. */
  readonly firstId: string;
  readonly lastId: string;
  readonly fromMs: number;
  readonly toMs: number;
  column(field: ChunkField): ChunkColumn;
}

export interface ChunkSpan {
  readonly account: string;
  /** Unix ms; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Records outside chunks are read one by one: with more of them, other ways are faster. */
const UNCHUNKED_MAX = 5_000;

const UNCHUNKED = `SELECT request_id FROM record_waiting WHERE account = ?
  UNION ALL SELECT request_id FROM call_record INDEXED BY call_record_block
    WHERE block > (SELECT block FROM chunked_through)`;

/** The condition of an account's records that are in no chunk; null: there are too many of them. */
export function unchunkedCondition(database: Database, account: string): Condition | null {
  const found = database
    .query<{ records: number }, [string]>(
      `SELECT count(*) AS records FROM (SELECT 1 FROM (${UNCHUNKED}) LIMIT ${UNCHUNKED_MAX + 1})`,
    )
    .get(account);
  if (found === null || found.records > UNCHUNKED_MAX) return null;
  return { sql: `request_id IN (${UNCHUNKED})`, parameters: [account] };
}

interface ChunkRow {
  readonly id: number;
  readonly rows: number;
  readonly firstId: string;
  readonly lastId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Calls `use` with the account's chunks that have records within the span, the newest first. */
export function withChunks<Result>(
  database: Database,
  { account, fromMs, toMs }: ChunkSpan,
  use: (chunks: readonly Chunk[]) => Result,
): Result {
  const list = database.prepare<ChunkRow, [string, number, number]>(
    `SELECT id, rows, first_id AS firstId, last_id AS lastId, from_ms AS fromMs, to_ms AS toMs FROM record_chunk
      WHERE account = ? AND to_ms >= ? AND from_ms < ? ORDER BY last_id DESC`,
  );
  const read = database.prepare<{ data: Uint8Array }, [number]>('SELECT data FROM record_column WHERE id = ?');
  try {
    const rows = list.all(account, fromMs, toMs);
    return use(
      rows.map(({ id, ...chunk }) => ({
        ...chunk,
        column(field) {
          const found = read.get(columnId(id, field));
          if (found === null) throw new Error(`chunk ${id} of the records has no column ${field}`);
          return openColumn(found.data);
        },
      })),
    );
  } finally {
    list.finalize();
    read.finalize();
  }
}

/** For each row 1 where it is within the span and meets all terms, else 0. Null: none does. */
export function matchRows(chunk: Chunk, span: ChunkSpan, terms: readonly ChunkTerm[]): Uint8Array | null {
  const rows = new Uint8Array(chunk.rows).fill(1);
  if (chunk.fromMs < span.fromMs || chunk.toMs >= span.toMs) keepSpan(rows, chunk.column('at'), span);
  for (const term of terms) {
    const column = chunk.column(term.field);
    const met = term.codesOf(column);
    if (!met.includes(1)) return null;
    if (!met.includes(0)) continue;
    const { codes } = column;
    for (let row = 0; row < rows.length; row++) rows[row] = (rows[row] ?? 0) & (met[codes[row] ?? 0] ?? 0);
  }
  return rows.includes(1) ? rows : null;
}

function keepSpan(rows: Uint8Array, column: ChunkColumn, { fromMs, toMs }: ChunkSpan): void {
  const first = column.countBelow(fromMs, false);
  const end = column.countBelow(toMs, false);
  for (let row = 0; row < rows.length; row++) {
    const code = column.codes[row] ?? 0;
    if (code <= first || code > end) rows[row] = 0;
  }
}

export function idOf(ids: ChunkColumn, row: number): string {
  return String(ids.valueOf(ids.codes[row] ?? 0));
}
