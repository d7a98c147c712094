/**
 * Builds chunks of records between other writes, of accounts that have enough of them. Records after the mark that memory
 * still has become a chunk directly where they are many of one account; the others move to those that wait for their
 * account's next chunk, which is built from the tables, as is everything after a start or a fault. Each record is in
 * exactly one of the three places, since each step is one transaction. Records never change and are never deleted, so
 * chunks neither.
 */
import type { Database } from 'bun:sqlite';
import type { CallRecord } from '../../ports/records.ts';
import { inTransaction } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { type ColumnValue, packColumn } from './chunk-column.ts';
import { CHUNK_FIELDS, CHUNK_ROWS, type ChunkField, columnId, exactAmount, FIELD_NAMES } from './chunk-fields.ts';

/** A block of the journal that is in the tables. */
export interface StoredBlock {
  readonly seq: number;
  readonly records: readonly CallRecord[];
}

export interface ChunkBuilder {
  /** Keeps the records of blocks, in order, once they are committed. */
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

/** Most records in memory, about 2 KB each: more than a second of a full load. */
const KEPT_MAX = 8_192;

export interface ChunkOptions {
  /** Fewer rows and records in memory only in tests. */
  readonly chunkRows?: number | undefined;
  readonly keptMax?: number | undefined;
  readonly reach: ReachFailpoint;
}

export function openChunkBuilder(
  database: Database,
  { chunkRows = CHUNK_ROWS, keptMax = KEPT_MAX, reach }: ChunkOptions,
): ChunkBuilder {
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
  /** Records that wait, by account; null: to be counted. */
  let waiting: Map<string, number> | null = null;
  /** The last blocks in the tables, without a gap. */
  let stored: StoredBlock[] = [];

  function full(counts: ReadonlyMap<string, number>): string | undefined {
    for (const [account, records] of counts) if (records >= chunkRows) return account;
    return undefined;
  }

  /** False: too few are after the mark. */
  function moveRecords(counts: Map<string, number>): boolean {
    const from = readMark.get()?.block ?? -1;
    stored = stored.filter(({ seq }) => seq > from);
    if (stored[0]?.seq === from + 1) return moveStored(counts);
    const to = blockTo.get(from, chunkRows - 1)?.block;
    if (to === undefined) return false;
    for (const { account, records } of countMoved.all(from, to)) {
      counts.set(account, (counts.get(account) ?? 0) + records);
    }
    move.run(from, to);
    moveMark.run(to);
    return true;
  }

  function moveStored(counts: Map<string, number>): boolean {
    const moved = new Map<string, CallRecord[]>();
    let size = 0;
    let largest = 0;
    const last = stored.find(({ records }) => {
      for (const record of records) {
        const own = moved.get(record.account) ?? [];
        moved.set(record.account, own);
        largest = Math.max(largest, own.push(record));
      }
      size += records.length;
      // An account with half of the requests or more gets its chunk directly.
      return largest >= chunkRows || size >= 2 * chunkRows;
    });
    if (last === undefined) return false;
    for (const [account, records] of moved) {
      const others = records.length < chunkRows ? records : buildFromMemory(account, records);
      for (const { request_id } of others) insertWaiting.run(account, request_id);
      counts.set(account, (counts.get(account) ?? 0) + others.length);
    }
    moveMark.run(last.seq);
    return true;
  }

  /** Returns the records that the chunk did not take: it takes all, rather than leave a few. */
  function buildFromMemory(account: string, records: CallRecord[]): readonly CallRecord[] {
    records.sort((one, other) => (one.request_id < other.request_id ? -1 : 1));
    const others = records.splice(2 * chunkRows);
    insert(account, (field) => records.map(CHUNK_FIELDS[field].of));
    return others;
  }

  function build(account: string, counts: Map<string, number>): void {
    const rows = read.values(account, chunkRows) as Value[][];
    const last = insert(account, (field) => {
      const place = FIELD_NAMES.indexOf(field);
      // Amounts are read as text, which is exact.
      return rows.map((row) => (field === 'cost' ? exactAmount(row[place] as string | null) : (row[place] ?? null)));
    });
    remove.run(account, last);
    counts.set(account, (counts.get(account) ?? rows.length) - rows.length);
  }

  /** Returns the last id. */
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

  return {
    take(blocks) {
      const isGap = stored.length > 0 && stored.at(-1)?.seq !== (blocks[0]?.seq ?? 0) - 1;
      stored = isGap ? [...blocks] : [...stored, ...blocks];
      if (stored.reduce((sum, { records }) => sum + records.length, 0) > keptMax) stored = [];
    },
    step() {
      // What is lost with the power is built again.
      database.run('PRAGMA synchronous = NORMAL');
      try {
        const hasWorked = inTransaction(database, () => {
          waiting ??= new Map(countAll.all().map(({ account, records }) => [account, records]));
          const hasMoved = full(waiting) === undefined && moveRecords(waiting);
          const account = full(waiting);
          if (account !== undefined) build(account, waiting);
          reach('chunk-before-commit');
          return hasMoved || account !== undefined;
        });
        reach('chunk-committed');
        return hasWorked;
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
