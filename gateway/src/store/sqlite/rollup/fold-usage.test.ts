/**
 * Tests the rollup when the process is killed or ends in the middle of it, and when calls arrive meanwhile: each call
 * is summed once.
 */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection, openWriteConnection } from '../database/connection.ts';
import { FAILPOINTS } from '../failpoints.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { proveUsage } from '../usage/prove-usage.ts';
import { openWriterDatabase } from '../writer/writer-database.ts';
import { readThrough } from './usage-mark.ts';

const newFolder = temporaryFolders();
const FOLDING = FAILPOINTS.filter((point) => point.startsWith('fold'));
const QUESTION = {
  tenant: { account: 'default', workspaces: null },
  fromMs: 0,
  toMs: Date.UTC(2026, 0, 1),
  timeZone: 'UTC',
  timeMsMax: 30_000,
};

async function runUntilKilled(dataDir: string, point: string, passing: number, round: number): Promise<void> {
  const program = join(import.meta.dir, '../testing/fold-until-killed.ts');
  const child = Bun.spawn([process.execPath, program, dataDir, point, `${passing}`, `${round}`], { stderr: 'inherit' });
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
}

function prove(dataDir: string) {
  const reading = openReadConnection(databasePath(dataDir));
  try {
    return proveUsage(reading, QUESTION);
  } finally {
    reading.close();
  }
}

test.each(FOLDING)(
  'kill -9 at %s: usage, records and ledger stay the same',
  async (point) => {
    const folder = newFolder();
    for (const round of [0, 1, 2]) {
      await runUntilKilled(folder, point, 3 + round, round);
      const { usage, records, ledger, calls } = prove(folder);
      expect([usage, usage]).toEqual([records, ledger]);
      expect(calls).toBeGreaterThan(250 * (round + 1));
    }
    const writer = openWriterDatabase(
      { path: databasePath(folder), databaseBytesMax: null, epoch: null },
      1,
      () => undefined,
    );
    while (writer.foldUsage());
    writer.close();
    const { usage, records } = prove(folder);
    expect(usage).toBe(records);
  },
  30_000,
);

describe('between gathering and writing', () => {
  const VARIETY = { accounts: ['default'], keysPerAccount: 3, models: 4, endUsersPerAccount: 9, sessionMs: 600_000 };
  const START_MS = Date.UTC(2025, 5, 1);
  const LATER = { gatherMs: Number.MAX_SAFE_INTEGER };
  const callsAt = (startMs: number, firstNth: number) => {
    const random = seededRandom(firstNth);
    return Array.from({ length: 120 }, (_, nth) => randomCall(random, VARIETY, startMs + nth * 1_000, firstNth + nth));
  };
  const openWriter = (dataDir: string) =>
    openWriterDatabase({ path: databasePath(dataDir), databaseBytesMax: null, epoch: null }, 1, () => undefined);
  const throughOf = (dataDir: string) => {
    const reading = openReadConnection(databasePath(dataDir));
    try {
      return readThrough(reading);
    } finally {
      reading.close();
    }
  };

  function expectExact(dataDir: string, calls: number) {
    const proof = prove(dataDir);
    expect([proof.usage, proof.calls]).toEqual([proof.records, calls]);
  }

  test('nothing is written early, and everything is counted once', () => {
    const folder = newFolder();
    const writer = openWriter(folder);
    fillCalls(writer, callsAt(START_MS, 1));
    while (writer.foldUsage(LATER));
    expect(throughOf(folder)).toBe('');
    expectExact(folder, 120);
    fillCalls(writer, callsAt(START_MS + 3_600_000, 2_000));
    while (writer.foldUsage(LATER));
    expect(throughOf(folder)).toBe('');
    while (writer.foldUsage());
    expect(throughOf(folder)).not.toBe('');
    expectExact(folder, 240);
    writer.close();
  });

  test.each(['goes on', 'is started anew'])('a late call is counted once, where the writer %s', (end) => {
    const folder = newFolder();
    let writer = openWriter(folder);
    fillCalls(writer, callsAt(START_MS, 1));
    while (writer.foldUsage());
    fillCalls(writer, callsAt(START_MS + 3_600_000, 2_000));
    while (writer.foldUsage(LATER));
    // Older than what is written, and older than what is gathered only.
    fillCalls(writer, callsAt(START_MS + 500, 4_000));
    fillCalls(writer, callsAt(START_MS + 3_500_000, 6_000));
    expectExact(folder, 480);
    while (writer.foldUsage(LATER));
    expectExact(folder, 480);
    if (end === 'is started anew') {
      writer.close();
      writer = openWriter(folder);
      expectExact(folder, 480);
    }
    while (writer.foldUsage());
    expectExact(folder, 480);
    while (writer.foldUsage());
    writer.close();
    const reading = openReadConnection(databasePath(folder));
    expect(reading.query('SELECT count(*) AS late FROM usage_late').get()).toEqual({ late: 0 });
    reading.close();
  });

  test('records that could not be written are gathered again', () => {
    const folder = newFolder();
    const writer = openWriter(folder);
    fillCalls(writer, callsAt(START_MS, 1));
    while (writer.foldUsage(LATER));
    const vandal = openWriteConnection(databasePath(folder));
    vandal.run("CREATE TRIGGER refuse BEFORE INSERT ON usage_block BEGIN SELECT RAISE(ABORT, 'not now'); END");
    expect(() => writer.foldUsage()).toThrow('not now');
    fillCalls(writer, callsAt(START_MS + 500, 4_000));
    expectExact(folder, 240);
    vandal.run('DROP TRIGGER refuse');
    vandal.close();
    while (writer.foldUsage());
    expectExact(folder, 240);
    writer.close();
  });

  test('a past day includes late calls, in its time zone and after a change', () => {
    const folder = newFolder();
    const writer = openWriter(folder);
    const setZone = (zone: string) =>
      writer.keepWrites([
        [{ sql: "UPDATE account SET time_zone = ? WHERE id = 'default'", parameters: [zone], changes: 1 }],
      ]);
    fillCalls(writer, callsAt(START_MS, 1));
    while (writer.foldUsage());
    for (const [nth, zone] of ['UTC', 'Asia/Kathmandu', 'UTC'].entries()) {
      setZone(zone);
      fillCalls(writer, callsAt(START_MS + 7_000 * nth, 2_000 * (nth + 1)));
      while (writer.foldUsage());
      expectExact(folder, 120 * (nth + 2));
    }
    writer.close();
  });
});
