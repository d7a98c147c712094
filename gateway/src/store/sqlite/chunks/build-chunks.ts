/**
 * Builds chunks of records between other writes: moves the records after the mark to those that wait for their account's
 * next chunk, and makes a chunk of an account that has enough of them, which need not wait if they just came. Each record
 * is in exactly one of the three places, since each step is one transaction. Records never change and are never deleted,
 * so chunks neither.
 *
 * What was stored lately is packed from memory. Where memory lacks records, after a start or a fault or beyond its bound,
 * they are read from the tables.
 */
import type { Database } from 'bun:sqlite';
import type { CallRecord } from '../../ports/records.ts';
import { inTransaction } from '../database/connection.ts';
import { type ColumnValue, packColumn } from './chunk-column.ts';
import { CHUNK_FIELDS, CHUNK_ROWS, type ChunkField, columnId, exactAmount, FIELD_NAMES } from './chunk-fields.ts';

/** A block of the journal that is in the tables. */
export interface StoredBlock {
  readonly seq: number;
  readonly records: readonly CallRecord[];
}

export interface ChunkBuilder {
  /** Remembers the records of blocks, in order, once they are committed. */
  take(blocks: readonly StoredBlock[]): void;
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

/** Most records in memory after the mark, and most of those that wait: each takes about 0.6 KB. */
const KEPT_MAX = 16_384;

/** What of an account waits for its next chunk. */
interface Waiting {
  rows: number;
  /** All of these rows, or none where some are only in the table. */
  records: CallRecord[];
}

/** `chunkRows` and `keptMax`: fewer only in tests. */
export function openChunkBuilder(database: Database, chunkRows = CHUNK_ROWS, keptMax = KEPT_MAX): ChunkBuilder {
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
  const insertWaiting = database.prepare<unknown, [string, string]>(
    'INSERT INTO record_waiting (account, request_id) VALUES (?, ?)',
  );
  const remove = database.prepare<unknown, [string, string]>(
    'DELETE FROM record_waiting WHERE account = ? AND request_id <= ?',
  );
  /** By account; null: to be counted. */
  let waiting: Map<string, Waiting> | null = null;
  /** Records in `waiting`. */
  let kept = 0;
  /** The last blocks in the tables without a gap, and how many records they have. */
  let stored: StoredBlock[] = [];
  let storedRecords = 0;

  function count(): Map<string, Waiting> {
    kept = 0;
    return new Map(countAll.all().map(({ account, records }) => [account, { rows: records, records: [] }]));
  }

  function waitingOf(account: string, all: Map<string, Waiting>): Waiting {
    const own = all.get(account) ?? { rows: 0, records: [] };
    all.set(account, own);
    return own;
  }

  /** Replaces the records in memory of those that wait. */
  function keep(own: Waiting, records: CallRecord[]): void {
    kept += records.length - own.records.length;
    own.records = records;
  }

  /** False: too few are after the mark. */
  function moveRows(from: number, all: Map<string, Waiting>): boolean {
    const to = blockTo.get(from, chunkRows - 1)?.block;
    if (to === undefined) return false;
    for (const { account, records } of countMoved.all(from, to)) {
      const own = waitingOf(account, all);
      own.rows += records;
      keep(own, []);
    }
    move.run(from, to);
    moveMark.run(to);
    return true;
  }

  /** Takes the blocks in memory that have enough records. False: too few are after the mark. */
  function moveStored(all: Map<string, Waiting>): boolean {
    if (storedRecords < chunkRows) return false;
    const moved: CallRecord[] = [];
    let to = 0;
    for (const { seq, records } of stored) {
      if (moved.length >= chunkRows) break;
      moved.push(...records);
      to = seq;
    }
    let isBuilt = false;
    for (const [account, records] of Map.groupBy(moved, (record) => record.account)) {
      const own = waitingOf(account, all);
      const isFull = own.rows + records.length >= chunkRows;
      if (isBuilt || !isFull || own.records.length < own.rows) wait(own, records);
      else isBuilt = buildFromMemory(account, own, records);
    }
    moveMark.run(to);
    return true;
  }

  function wait(own: Waiting, records: readonly CallRecord[]): void {
    for (const { account, request_id } of records) insertWaiting.run(account, request_id);
    const isKept = own.records.length === own.rows && kept + records.length <= keptMax;
    keep(own, isKept ? [...own.records, ...records] : []);
    own.rows += records.length;
  }

  /** Of so many rows, how many the next chunk takes: all, rather than to leave a few. */
  const takenOf = (rows: number) => (rows <= 2 * chunkRows ? rows : chunkRows);

  /** Builds a chunk of the records that wait, which are all in memory, and of new ones. */
  function buildFromMemory(account: string, own: Waiting, added: readonly CallRecord[]): true {
    const records = [...own.records, ...added].sort((one, other) => (one.request_id < other.request_id ? -1 : 1));
    const left = records.splice(takenOf(records.length));
    const last = insert(account, (field) => records.map(CHUNK_FIELDS[field].of));
    if (own.rows > 0) remove.run(account, last);
    for (const { request_id } of added) if (request_id > last) insertWaiting.run(account, request_id);
    own.rows = left.length;
    keep(own, left);
    return true;
  }

  function buildFromRows(account: string, own: Waiting): void {
    const rows = read.values(account, takenOf(own.rows)) as Value[][];
    const last = insert(account, (field) => {
      const place = FIELD_NAMES.indexOf(field);
      // Amounts are read as text, which is exact.
      return rows.map((row) => (field === 'cost' ? exactAmount(row[place] as string | null) : (row[place] ?? null)));
    });
    remove.run(account, last);
    own.rows -= rows.length;
    keep(own, []);
  }

  /** `columnOf`: the values of a field, in the order of the ids. Returns the last id. */
  function insert(account: string, columnOf: (field: ChunkField) => (ColumnValue | null)[]): string {
    const ids = columnOf('id');
    if (ids.length === 0) throw new Error(`no records of account ${account} wait for a chunk`);
    const [first, last] = [String(ids[0]), String(ids.at(-1))];
    const times = columnOf('at').map(Number);
    const chunk = insertChunk.get(account, ids.length, first, last, Math.min(...times), Math.max(...times));
    if (chunk === null) throw new Error('a new chunk has no id');
    for (const field of FIELD_NAMES) {
      insertColumn.run(columnId(chunk.id, field), packColumn(CHUNK_FIELDS[field].kind, columnOf(field)));
    }
    return last;
  }

  /** Forgets blocks up to the mark. False: memory lacks some after it. */
  function reachMark(from: number): boolean {
    const next = stored.findIndex(({ seq }) => seq > from);
    for (const { records } of stored.splice(0, next === -1 ? stored.length : next)) storedRecords -= records.length;
    return stored[0]?.seq === from + 1;
  }

  function buildNext(all: Map<string, Waiting>): boolean {
    for (const [account, own] of all) {
      if (own.rows < chunkRows) continue;
      if (own.records.length === own.rows) buildFromMemory(account, own, []);
      else buildFromRows(account, own);
      return true;
    }
    const from = readMark.get()?.block ?? -1;
    return reachMark(from) ? moveStored(all) : moveRows(from, all);
  }

  return {
    take(blocks) {
      const last = stored.at(-1);
      if (last !== undefined && blocks[0]?.seq !== last.seq + 1) stored = [];
      stored.push(...blocks);
      storedRecords = stored.reduce((sum, { records }) => sum + records.length, 0);
      if (storedRecords <= keptMax) return;
      stored = [];
      storedRecords = 0;
    },
    step() {
      // What is lost with the power is built again.
      database.run('PRAGMA synchronous = NORMAL');
      try {
        return inTransaction(database, () => {
          waiting ??= count();
          return buildNext(waiting);
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
      for (const statement of [insertChunk, insertColumn, insertWaiting, remove]) statement.finalize();
    },
  };
}
