/** Tests that each record is in one place at any time: after the mark, waiting, or in a chunk of its own account. */
import { afterEach, expect, test } from 'bun:test';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
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

function open(dataDir: string): IngestRig {
  const rig = openIngestRig(dataDir, undefined, CHUNK_ROWS);
  rigs.push(rig);
  return rig;
}

function fill(rig: IngestRig, first: number, count: number): void {
  const random = seededRandom(first + 1);
  for (let nth = first; nth < first + count; nth += 7) {
    const calls = Array.from({ length: Math.min(7, first + count - nth) }, (_, index) =>
      randomCall(random, VARIETY, START_MS + (nth + index) * 60_000, nth + index),
    );
    fillCalls(rig, calls);
  }
}

function openWithAccounts(dataDir: string): IngestRig {
  const rig = open(dataDir);
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

test('a step that fails changes nothing, and is repeated', () => {
  const rig = openWithAccounts(newFolder());
  fill(rig, 0, 100);
  for (const table of ['record_column', 'record_waiting']) {
    rig.database.run(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'not now'); END`);
    expect(() => rig.chunk()).toThrow('not now');
    expectOnce(rig);
    rig.database.run('DROP TRIGGER refuse');
  }
  rig.chunk();
  expectOnce(rig);
  expect(count(rig, 'record_chunk')).toBeGreaterThan(2);
});

test('every field has a number of its own below 64', () => {
  const numbers = FIELD_NAMES.map((field) => CHUNK_FIELDS[field].number);
  expect(new Set(numbers).size).toBe(FIELD_NAMES.length);
  expect(Math.max(...numbers)).toBeLessThan(64);
});
