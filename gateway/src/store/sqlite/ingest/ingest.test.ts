/**
 * Tests that the tables show exactly the frames of the journal: however these came in blocks and batches, wherever the
 * process was killed, and not at all where a block does not fit.
 */
import type { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { everyOrAll } from '../../../../test/harness/exhaustive.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { openJournal } from '../../journal/journal.ts';
import type { Frame } from '../../ports/journal.ts';
import { seededRandom } from '../../testing/random-calls.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { idOf, withChunks } from '../chunks/read-chunks.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { FAILPOINTS } from '../failpoints.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
import { type History, randomHistory } from '../testing/random-frames.ts';
import { proveUsage } from '../usage/prove-usage.ts';
import { journalFolder, openWriterDatabase } from '../writer/writer-database.ts';
import { readUnendedCalls } from './open-holds.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2026, 2, 1);
const ACME = { sql: "INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)", parameters: [], changes: 1 };

const TABLES = ['call_record', 'movement', 'open_hold', 'account_balance', 'block', 'stream'] as const;

/** All rows, and the audit trail without its numbers and times of writing. */
function dumpOf(database: Database) {
  const tables = TABLES.map((table) => database.query(`SELECT * FROM ${table} ORDER BY 1, 2`).all());
  return [...tables, database.query("SELECT * FROM audit_entry WHERE act LIKE 'accounts.%' ORDER BY seq").all()];
}

function openRig(): IngestRig {
  const rig = openIngestRig(newFolder());
  expect(rig.keepWrites([[ACME]])).toBe(true);
  return rig;
}

function balancesOf(database: Database) {
  const rows = database
    .query<Record<string, string>, []>(
      `SELECT account, cast(available AS TEXT) AS available, cast(held AS TEXT) AS held, cast(charged AS TEXT) AS charged,
        cast(absorbed AS TEXT) AS writtenOff, cast(topped_up AS TEXT) AS toppedUp,
        cast(absorbed_attempts AS TEXT) AS absorbedAttempts FROM account_balance`,
    )
    .all();
  return new Map(
    rows.map(({ account, ...amounts }) => [
      account,
      Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, BigInt(text)])),
    ]),
  );
}

function recordsOf(database: Database) {
  return database
    .query<Parameters<typeof callRecordOfRow>[0], []>(
      'SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record ORDER BY request_id',
    )
    .all()
    .map(callRecordOfRow);
}

function expectModel(database: Database, { balances, open, records }: History): void {
  expect(balancesOf(database)).toEqual(new Map(balances) as never);
  const unended = readUnendedCalls(database).map(({ draft, amount }) => [draft.request_id, amount]);
  const model = [...open].map(([id, { held }]) => [id, held]);
  expect(unended).toEqual(model.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)) as never);
  expect(recordsOf(database)).toEqual(records.toSorted((one, other) => (one.request_id < other.request_id ? -1 : 1)));
}

function expectProof(database: Database, { ends, records }: History): void {
  const tenant = { account: 'default', workspaces: null };
  const range = { fromMs: 0, toMs: START_MS * 2, timeZone: 'UTC', timeMsMax: 30_000 };
  const proof = proveUsage(database, { tenant, ...range });
  const own = records.filter(({ account }) => account === 'default');
  const cost = own.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? 0), 0n);
  expect(proof).toMatchObject({ usage: cost, records: cost, ledger: cost, calls: own.length, chain: { holds: true } });
  expect(proof.entries).toBe(ends.filter(({ record }) => record.account === 'default').length);
}

/** Each record is in a chunk, waits for one, or is in a block after the mark. */
function expectChunks(database: Database, { records }: History): void {
  const ids = ['default', 'acme'].flatMap((account) =>
    withChunks(database, { account, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, (chunks) =>
      chunks.flatMap((chunk) => Array.from({ length: chunk.rows }, (_, row) => idOf(chunk.column('id'), row))),
    ),
  );
  expect(ids.length).toBeGreaterThan(0);
  const others = database
    .query<{ id: string }, []>(
      `SELECT request_id AS id FROM record_waiting
        UNION ALL SELECT request_id FROM call_record WHERE block > (SELECT block FROM chunked_through)`,
    )
    .all()
    .map(({ id }) => id);
  expect([...ids, ...others].sort()).toEqual(records.map(({ request_id }) => request_id).sort());
}

/** Cuts the frames into blocks of up to `most` frames. */
function* blocksOf(frames: readonly Frame[], random: () => number, most: number): Iterable<readonly Frame[]> {
  for (let at = 0; at < frames.length; ) {
    const end = at + 1 + Math.floor(random() * most);
    yield frames.slice(at, end);
    at = end;
  }
}

describe.each(everyOrAll(3, [1, 2, 3, 4, 5]))('a random history, seed %d', (seed) => {
  const history = randomHistory(seededRandom(seed), 400, START_MS);

  test('gives the tables of a model, the same in one batch and in many', () => {
    const [many, one, some] = [openRig(), openRig(), openRig()];
    const cuts = seededRandom(seed + 100);
    for (const frames of blocksOf(history.frames, seededRandom(seed), 9)) {
      many.append(frames);
      one.appendOnly(frames);
      const seq = some.appendOnly(frames);
      if (cuts() < 0.1) some.ingest(seq);
      if (cuts() < 0.02) some.rollUp();
    }
    for (const rig of [one, some]) rig.ingest(Number.MAX_SAFE_INTEGER);
    expectModel(many.database, history);
    const tables = dumpOf(many.database);
    for (const rig of [many, one, some]) {
      expect(dumpOf(rig.database)).toEqual(tables);
      expectProof(rig.database, history);
      rig.rollUp();
      expectProof(rig.database, history);
      rig.close();
    }
  });
});

describe('a block that does not fit the tables', () => {
  const record = sampleRecord('req_1', { cost_nano_usd: '5' });
  const hold: Frame = { kind: 'hold', draft: record, amount: 9n, prepaid: false };
  const end = { kind: 'end', record, posted: 5n, released: 4n, writtenOff: 0n, at_ms: 1 } as const;
  const topup: Frame = {
    kind: 'movement',
    of: 'topup',
    movement: { id: 'm', account: 'default', amount: 5n, note: null, at_ms: 1 },
    prepaid: false,
    audit: null,
  };
  test.each<[string, readonly Frame[], string]>([
    ['a second hold', [hold, hold], 'open_hold'],
    ['the end of a call that holds nothing', [{ ...end, hold: null }], 'holds nothing'],
    ['an end that disposes of another amount', [hold, { ...end, hold: null, released: 5n }], 'disposes of 10'],
    ['a second record', [hold, { ...end, hold: null }, { kind: 'refused', record }], 'UNIQUE'],
    [
      'an extension out of turn',
      [hold, { kind: 'extend', call_id: 'req_1', nth: 2, amount: 1n, prepaid: false, at_ms: 1 }],
      'follows extension 0',
    ],
    ['a movement that is there', [topup, topup], 'UNIQUE'],
    [
      'a balance beyond 64 bits',
      [topup, { ...topup, movement: { ...topup.movement, id: 'n', amount: 2n ** 63n - 1n } }],
      'cannot store REAL',
    ],
  ])('%s is named, and nothing of it or after it is applied', (_, frames, reason) => {
    const rig = openRig();
    const other = (nth: number): Frame => ({ kind: 'refused', record: sampleRecord(`req_other_${nth}`) });
    rig.appendOnly([other(1)]);
    for (const frame of frames) rig.appendOnly([frame]);
    const last = rig.appendOnly([other(2)]);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => rig.ingest(last)).toThrow(
        new RegExp(`Block ${frames.length + 1} of the journal does not fit the database: .*${reason}`),
      );
      const { seq } = rig.database.query<{ seq: number }, []>('SELECT seq FROM stream').get() ?? { seq: -1 };
      expect(seq).toBe(frames.length);
      expect(rig.database.query("SELECT 1 FROM call_record WHERE request_id = 'req_other_2'").get()).toBeNull();
      expect(rig.database.query("SELECT 1 FROM call_record WHERE request_id = 'req_other_1'").get()).not.toBeNull();
    }
    rig.close();
  });
});

describe('an account that only the journal has', () => {
  const id = `${requestIdFloor(START_MS)}7000`;
  const record = sampleRecord(id, { account: 'lost', at_ms: START_MS, cost_nano_usd: '5' });
  const topup: Frame = {
    kind: 'movement',
    of: 'topup',
    movement: { id: 'm', account: 'lost', amount: 7n, note: null, at_ms: 3 },
    prepaid: true,
    audit: null,
  };
  const end: Frame = {
    kind: 'end',
    record,
    hold: { amount: 5n, prepaid: false },
    posted: 5n,
    released: 0n,
    writtenOff: 0n,
    at_ms: record.at_ms,
  };
  test.each<[string, readonly Frame[], string, bigint]>([
    ['topped up', [topup, end], 'prepaid', 2n],
    ['used first', [end, topup], 'postpaid', 2n],
  ])('is added with its money and its usage (%s)', (_, frames, mode, available) => {
    const rig = openRig();
    rig.append([{ kind: 'refused', record: sampleRecord('req_0') }]);
    rig.append(frames);
    expect(rig.database.query("SELECT mode, name FROM account WHERE id = 'lost'").get()).toEqual({
      mode,
      name: 'lost',
    });
    expect(balancesOf(rig.database).get('lost')).toMatchObject({ available, charged: 5n });
    rig.rollUp();
    const [range, limits] = [
      { fromMs: 0, toMs: START_MS * 2 },
      { timeZone: 'UTC', timeMsMax: 30_000 },
    ];
    const proof = proveUsage(rig.database, { tenant: { account: 'lost', workspaces: null }, ...range, ...limits });
    expect(proof).toMatchObject({ usage: 5n, records: 5n, ledger: 5n, calls: 1 });
    rig.close();
  });
});

/** A folder whose journal holds the history, and whose tables have nothing of it. */
async function writeJournal(history: History): Promise<string> {
  const dataDir = newFolder();
  const path = databasePath(dataDir);
  const writer = openWriterDatabase({ path, databaseBytesMax: null, stream: null }, () => undefined);
  expect(writer.keepWrites([[ACME]])).toBe(true);
  const { stream, end, epoch } = writer.opened;
  writer.close();
  const journal = await openJournal({
    folder: journalFolder(path),
    stream,
    end,
    epoch: epoch + 1,
    onChange: () => undefined,
    onProblem: () => undefined,
  });
  for (const frames of blocksOf(history.frames, seededRandom(9), 40)) {
    for (const frame of frames) journal.append(frame, null);
    await journal.flush();
  }
  await journal.close();
  return dataDir;
}

describe('a process that is killed', () => {
  const history = randomHistory(seededRandom(7), 3_000, START_MS);
  const dataDirs = writeJournal(history);
  const program = join(import.meta.dir, '../testing/ingest-until-killed.ts');

  test.each(FAILPOINTS.filter((point) => /^(ingest|chunk)-/.test(point)))(
    'at %s repeats from the mark',
    async (point) => {
      const dataDir = newFolder();
      cpSync(await dataDirs, dataDir, { recursive: true });
      for (const passing of [1, 2]) {
        const env = { ...process.env, TOLLGATE_TEST_FAILPOINT: `${point}:${passing}` };
        const child = Bun.spawn([process.execPath, program, dataDir], { env, stderr: 'inherit' });
        await child.exited;
        expect(child.signalCode).toBe('SIGKILL');
      }
      const place = { path: databasePath(dataDir), databaseBytesMax: null, stream: null };
      const writer = openWriterDatabase(place, () => undefined);
      expect(writer.opened.left.length).toBe(history.open.size);
      const reading = openReadConnection(databasePath(dataDir));
      expectModel(reading, history);
      expectProof(reading, history);
      while (writer.chunk());
      expectChunks(reading, history);
      writer.close();
      expectProof(reading, history);
      reading.close();
    },
  );
});

test('a release commits something, and so waits for the disk, although the mark stays as it is', () => {
  const dataDir = newFolder();
  const rig = openIngestRig(dataDir);
  rig.append([{ kind: 'refused', record: sampleRecord('req_1') }]);
  const logBytes = () => statSync(`${databasePath(dataDir)}-wal`).size;
  const before = logBytes();
  const mark = rig.database.query('SELECT * FROM stream').get();
  rig.release();
  expect(logBytes()).toBeGreaterThan(before);
  expect(rig.database.query('SELECT * FROM stream').get()).toEqual(mark);
  rig.close();
});
