/** Tests that each record is in one place at any time: after the mark, waiting, or in a chunk of its own account. */
import { afterEach, expect, test } from 'bun:test';
import type { Reason } from '../../../errors/reason.ts';
import type { CallRecord } from '../../ports/records.ts';
import { Unavailable } from '../../ports/store-errors.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
import type { ColumnValue } from './chunk-column.ts';
import { CHUNK_FIELDS, FIELD_NAMES } from './chunk-fields.ts';
import { idOf, unchunkedCondition, withChunks } from './read-chunks.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2025, 2, 1);
const ACCOUNTS = ['default', 'acme', 'lab'];
const VARIETY = { accounts: ACCOUNTS, keysPerAccount: 3, models: 4, endUsersPerAccount: 9, sessionMs: 600_000 };
const CHUNK_ROWS = 16;
const rigs: IngestRig[] = [];
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.close();
});

function open(dataDir: string, keptMax?: number, reach?: ReachFailpoint): IngestRig {
  const rig = openIngestRig(dataDir, reach, { chunkRows: CHUNK_ROWS, keptMax });
  rigs.push(rig);
  return rig;
}

function recordOf(random: () => number, nth: number): CallRecord {
  const record = randomCall(random, VARIETY, START_MS + nth * 60_000, nth);
  const reason: Reason = { kind: 'rate_limited', at_step: 'limits' };
  return {
    ...record,
    // Many of one account in turn, then a few of each.
    account: nth % 150 < 90 ? 'default' : record.account,
    end_user: nth % 5 === 0 ? `ünser-${nth}-😀` : record.end_user,
    usage_flags: nth % 9 === 0 ? ['sum', 'far_output'] : null,
    reason: record.error === null ? null : reason,
    trace_id: nth % 4 === 0 ? 'ab'.repeat(16) : null,
    ...(nth % 11 === 0 && { cached_from: 'req_first' }),
  };
}

function fill(rig: IngestRig, first: number, count: number): void {
  const random = seededRandom(first + 1);
  for (let nth = first; nth < first + count; nth += 7) {
    const calls = Array.from({ length: Math.min(7, first + count - nth) }, (_, index) => recordOf(random, nth + index));
    fillCalls(rig, calls);
  }
}

function openWithAccounts(dataDir: string, keptMax?: number, reach?: ReachFailpoint): IngestRig {
  const rig = open(dataDir, keptMax, reach);
  for (const id of ACCOUNTS.slice(1)) {
    rig.keepWrites([[{ sql: 'INSERT INTO account (id, created_at_ms) VALUES (?, 1)', parameters: [id], changes: 1 }]]);
  }
  return rig;
}

function chunkedIds(rig: IngestRig, account: string): string[] {
  return withChunks(rig.database, { account, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, (chunks) =>
    chunks.flatMap((chunk) => {
      const ids = chunk.column('id');
      const own = Array.from({ length: chunk.rows }, (_, row) => idOf(ids, row));
      expect([own[0], own.at(-1)]).toEqual([chunk.firstId, chunk.lastId]);
      expect(own).toEqual(own.toSorted());
      return own;
    }),
  );
}

function expectOnce(rig: IngestRig): void {
  for (const account of ACCOUNTS) {
    const condition = unchunkedCondition(rig.database, account);
    if (condition === null) throw new Error('too many records are in no chunk');
    const others = rig.database
      .query<{ id: string }, (string | number | null)[]>(
        `SELECT request_id AS id FROM call_record WHERE ${condition.sql} AND account = ?`,
      )
      .all(...condition.parameters, account)
      .map(({ id }) => id);
    const all = rig.database
      .query<{ id: string }, [string]>('SELECT request_id AS id FROM call_record WHERE account = ? ORDER BY 1')
      .all(account)
      .map(({ id }) => id);
    expect([...chunkedIds(rig, account), ...others].sort()).toEqual(all);
  }
}

const count = (rig: IngestRig, table: string) =>
  rig.database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;

test('records move to waiting and to chunks, each once, also in a new process', () => {
  const dataDir = newFolder();
  const first = openWithAccounts(dataDir);
  fill(first, 0, 100);
  expectOnce(first);
  first.chunk();
  expect(count(first, 'record_chunk')).toBeGreaterThan(2);
  expectOnce(first);
  fill(first, 100, 50);
  rigs.pop()?.close();
  const next = open(dataDir);
  expectOnce(next);
  next.chunk();
  expectOnce(next);
  expect(count(next, 'record_waiting')).toBeLessThan(ACCOUNTS.length * CHUNK_ROWS);
  expect(count(next, 'record_column')).toBe(count(next, 'record_chunk') * FIELD_NAMES.length);
});

test('two accounts with half of the requests each get their chunks without waiting', () => {
  const rig = openWithAccounts(newFolder());
  const random = seededRandom(5);
  const callsOf = (first: number, accounts: readonly string[]) =>
    accounts.map((account, index) => ({ ...recordOf(random, first + index), account }));
  // The first records are read from the rows.
  fillCalls(rig, callsOf(0, Array(CHUNK_ROWS).fill('lab')));
  rig.chunk();
  rig.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON record_waiting BEGIN SELECT RAISE(ABORT, 'waits'); END`);
  for (let nth = 0; nth < CHUNK_ROWS; nth++) fillCalls(rig, callsOf(CHUNK_ROWS + 2 * nth, ['default', 'acme']));
  rig.chunk();
  expect([chunkedIds(rig, 'default').length, chunkedIds(rig, 'acme').length]).toEqual([CHUNK_ROWS, CHUNK_ROWS]);
  expectOnce(rig);
});

test('a step that fails changes nothing, and is repeated', () => {
  const rig = openWithAccounts(newFolder());
  // The first records are read from the rows, those after them come from memory.
  for (const first of [0, 100]) {
    fill(rig, first, 100);
    for (const table of ['record_column', 'record_waiting']) {
      rig.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'not now'); END`);
      expect(() => rig.chunk()).toThrow('not now');
      expectOnce(rig);
      rig.database.run('DROP TRIGGER refuse');
    }
    rig.chunk();
    expectOnce(rig);
  }
  expect(count(rig, 'record_chunk')).toBeGreaterThan(2);
});

/** By id, the value of every field, in the order of the fields. */
function chunkedValues(rig: IngestRig, account: string): Map<string, readonly (ColumnValue | null)[]> {
  const entries = withChunks(rig.database, { account, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, (chunks) =>
    chunks.flatMap((chunk) => {
      const columns = FIELD_NAMES.map((field) => chunk.column(field));
      return Array.from({ length: chunk.rows }, (_, row) => {
        const values = columns.map((column) => column.valueOf(column.codes[row] ?? 0));
        return [String(values[FIELD_NAMES.indexOf('id')]), values] as const;
      });
    }),
  );
  return new Map(entries);
}

test('chunks have the same values from memory and from rows', () => {
  const [fromMemory, fromRows] = [openWithAccounts(newFolder()), openWithAccounts(newFolder(), 0)];
  let compared = 0;
  for (const rig of [fromMemory, fromRows]) {
    for (let first = 0; first < 600; first += 100) {
      fill(rig, first, 100);
      rig.chunk();
    }
  }
  for (const account of ACCOUNTS) {
    const rows = chunkedValues(fromRows, account);
    for (const [id, values] of chunkedValues(fromMemory, account)) {
      const other = rows.get(id);
      if (other === undefined) continue;
      expect(values).toEqual(other);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(500);
});

test.each([0, 20, 60, 1_000])('records are each in one place with at most %d of them in memory', (keptMax) => {
  const dataDir = newFolder();
  let rig = openWithAccounts(dataDir, keptMax);
  const random = seededRandom(keptMax);
  for (let first = 0; first < 700; ) {
    const count = 1 + Math.floor(random() * 60);
    fill(rig, first, count);
    first += count;
    if (random() < 0.7) rig.chunk();
    expectOnce(rig);
    if (random() < 0.15) {
      rigs.pop()?.close();
      rig = open(dataDir, keptMax);
    }
  }
  rig.chunk();
  expectOnce(rig);
  expect(count(rig, 'record_chunk')).toBeGreaterThan(10);
  expect(count(rig, 'record_waiting')).toBeLessThan(ACCOUNTS.length * CHUNK_ROWS);
});

test('a block that memory did not get, since a fault followed its commit, is read from the rows', () => {
  let isFailing = false;
  const rig = openWithAccounts(newFolder(), undefined, (point) => {
    if (isFailing && point === 'ingest-committed') throw new Unavailable('failed', 'not now');
  });
  fill(rig, 0, 100);
  rig.chunk();
  fill(rig, 300, 7);
  isFailing = true;
  expect(() => fill(rig, 100, 7)).toThrow('not now');
  isFailing = false;
  expectOnce(rig);
  fill(rig, 107, 100);
  rig.chunk();
  expectOnce(rig);
  expect(count(rig, 'record_chunk')).toBeGreaterThan(4);
});

test('every field has a number of its own below 64', () => {
  const numbers = FIELD_NAMES.map((field) => CHUNK_FIELDS[field].number);
  expect(new Set(numbers).size).toBe(FIELD_NAMES.length);
  expect(Math.max(...numbers)).toBeLessThan(64);
});
