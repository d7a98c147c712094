/**
 * Builds chunks of records between other writes: moves the records after the mark to those that wait for their account's
 * next chunk, and makes a chunk of an account that has enough of them. Each record is in exactly one of the three
 * places, since each step is one transaction. Records never change and are never deleted, so chunks neither.
 */
import type { Database } from 'bun:sqlite';
import { inTransaction } from '../database/connection.ts';
import { type ColumnValue, packColumn } from './chunk-column.ts';
import { CHUNK_FIELDS, CHUNK_ROWS, type ChunkField, columnId, FIELD_NAMES } from './chunk-fields.ts';

export interface ChunkBuilder {
  /** Takes about 20 ms. False: nothing is left to do. */
  step(): boolean;
  close(): void;
}

const BLOCK_TO = `SELECT block FROM call_record INDEXED BY call_record_block
  WHERE block > ? ORDER BY block LIMIT 1 OFFSET ?`;
const MOVED = `FROM call_record INDEXED BY call_record_block WHERE block > ? AND block <= ?`;
const READ = `SELECT ${FIELD_NAMES.map((field) => CHUNK_FIELDS[field].sql).join(', ')} FROM call_record
  WHERE request_id IN (SELECT request_id FROM record_waiting WHERE account = ? ORDER BY request_id LIMIT ?)
  ORDER BY request_id`;

type Value = string | number | null;

/** `chunkRows`: fewer only in tests. */
export function openChunkBuilder(database: Database, chunkRows = CHUNK_ROWS): ChunkBuilder {
  const readMark = database.prepare<{ block: number }, []>('SELECT block FROM chunked_through');
  const moveMark = database.prepare<unknown, [number]>('UPDATE chunked_through SET block = ?');
  const blockTo = database.prepare<{ block: number }, [number, number]>(BLOCK_TO);
  const move = database.prepare<unknown, [number, number]>(
    `INSERT INTO record_waiting (account, request_id) SELECT account, request_id ${MOVED}`,
  );
  const countMoved = database.prepare<{ account: string; records: number }, [number, number]>(
    `SELECT account, count(*) AS records ${MOVED} GROUP BY account`,
  );
  const countAll = database.prepare<{ account: string; records: number }, []>(
    'SELECT account, count(*) AS records FROM record_waiting GROUP BY account',
  );
  const read = database.prepare<unknown, [string, number]>(READ);
  const insertChunk = database.prepare<{ id: number }, [string, number, string, string, number, number]>(
    `INSERT INTO record_chunk (account, rows, first_id, last_id, from_ms, to_ms) VALUES (?, ?, ?, ?, ?, ?)
      RETURNING id`,
  );
  const insertColumn = database.prepare<unknown, [number, Uint8Array]>(
    'INSERT INTO record_column (id, data) VALUES (?, ?)',
  );
  const remove = database.prepare<unknown, [string, string]>(
    'DELETE FROM record_waiting WHERE account = ? AND request_id <= ?',
  );
  /** Records that wait, by account; null: to be counted. */
  let waiting: Map<string, number> | null = null;

  function full(counts: ReadonlyMap<string, number>): string | undefined {
    for (const [account, records] of counts) if (records >= chunkRows) return account;
    return undefined;
  }

  /** False: too few are after the mark. */
  function moveRecords(counts: Map<string, number>): boolean {
    const from = readMark.get()?.block ?? -1;
    const to = blockTo.get(from, chunkRows - 1)?.block;
    if (to === undefined) return false;
    for (const { account, records } of countMoved.all(from, to)) {
      counts.set(account, (counts.get(account) ?? 0) + records);
    }
    move.run(from, to);
    moveMark.run(to);
    return true;
  }

  function build(account: string, counts: Map<string, number>): void {
    const rows = read.values(account, chunkRows) as Value[][];
    const columnOf = (field: ChunkField) => {
      const place = FIELD_NAMES.indexOf(field);
      return rows.map((row) => exactValue(field, row[place] ?? null));
    };
    const ids = columnOf('id');
    if (ids.length === 0) throw new Error(`no records of account ${account} wait for a chunk`);
    const [first, last] = [String(ids[0]), String(ids.at(-1))];
    const times = columnOf('at').map(Number);
    const chunk = insertChunk.get(account, rows.length, first, last, Math.min(...times), Math.max(...times));
    if (chunk === null) throw new Error('a new chunk has no id');
    for (const field of FIELD_NAMES) {
      insertColumn.run(columnId(chunk.id, field), packColumn(CHUNK_FIELDS[field].kind, columnOf(field)));
    }
    remove.run(account, last);
    counts.set(account, (counts.get(account) ?? rows.length) - rows.length);
  }

  return {
    step() {
      // What is lost with the power is built again.
      database.run('PRAGMA synchronous = NORMAL');
      try {
        return inTransaction(database, () => {
          waiting ??= new Map(countAll.all().map(({ account, records }) => [account, records]));
          const hasMoved = full(waiting) === undefined && moveRecords(waiting);
          const account = full(waiting);
          if (account !== undefined) build(account, waiting);
          return hasMoved || account !== undefined;
        });
      } catch (fault) {
        waiting = null;
        throw fault;
      } finally {
        database.run('PRAGMA synchronous = FULL');
      }
    },
    close() {
      for (const statement of [readMark, moveMark, blockTo, move, countMoved, countAll, read]) statement.finalize();
      for (const statement of [insertChunk, insertColumn, remove]) statement.finalize();
    },
  };
}

/** Amounts are read as text, which is exact. */
function exactValue(field: ChunkField, value: Value): ColumnValue | null {
  if (field !== 'cost' || value === null) return value;
  const exact = BigInt(value);
  return exact <= Number.MAX_SAFE_INTEGER && exact >= Number.MIN_SAFE_INTEGER ? Number(exact) : exact;
}
