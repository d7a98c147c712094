/** Tests that each record is in the sums once: gathered, written, after a fault, in a new process and in any time zone. */
import { afterEach, expect, test } from 'bun:test';
import { windowAt } from '../../../admission/window.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallRecord } from '../../ports/records.ts';
import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { settledCall } from '../../testing/sample-call.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { fillCalls } from '../testing/fill-calls.ts';
import { type IngestRig, openIngestRig } from '../testing/ingest-rig.ts';
import { proveUsage } from '../usage/prove-usage.ts';
import { readCharges } from '../usage/read-charges.ts';
import { readUsageMark } from './usage-mark.ts';

const newFolder = temporaryFolders();
const VARIETY = { accounts: ['default'], keysPerAccount: 3, models: 4, endUsersPerAccount: 9, sessionMs: 600_000 };
const START_MS = Date.UTC(2025, 5, 1);
const QUESTION = {
  tenant: { account: 'default', workspaces: null },
  fromMs: 0,
  toMs: Date.UTC(2026, 0, 1),
  timeZone: 'UTC',
  timeMsMax: 30_000,
};
const rigs: IngestRig[] = [];
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.close();
});

function open(dataDir: string): IngestRig {
  const rig = openIngestRig(dataDir);
  rigs.push(rig);
  return rig;
}

function callsAt(startMs: number, firstNth: number, count = 120): CallRecord[] {
  const random = seededRandom(firstNth);
  return Array.from({ length: count }, (_, nth) => randomCall(random, VARIETY, startMs + nth * 1_000, firstNth + nth));
}

function expectExact({ database }: IngestRig, calls: number): void {
  const proof = proveUsage(database, QUESTION);
  expect([proof.usage, proof.calls]).toEqual([proof.records, calls]);
}

test('sums wait for more, and are written once many records or many rows are gathered', () => {
  const rig = open(newFolder());
  fillCalls(rig, callsAt(START_MS, 1));
  expect(readUsageMark(rig.database).block).toBe(-1);
  expectExact(rig, 120);
  const few = { ...VARIETY, keysPerAccount: 1, models: 1, endUsersPerAccount: 1 };
  const random = seededRandom(2);
  fillCalls(
    rig,
    Array.from({ length: 5_000 }, (_, nth) => randomCall(random, few, START_MS, 1_000 + nth)),
  );
  expect(readUsageMark(rig.database).block).toBe(2);
  expectExact(rig, 5_120);
  const many = { ...VARIETY, endUsersPerAccount: 100_000 };
  fillCalls(
    rig,
    Array.from({ length: 2_500 }, (_, nth) => randomCall(random, many, START_MS + nth * 60_000, 7_000 + nth)),
  );
  expect(readUsageMark(rig.database).block).toBe(3);
  expectExact(rig, 7_620);
});

test('a new process gathers again what the last one did not write', () => {
  const folder = newFolder();
  const first = open(folder);
  fillCalls(first, callsAt(START_MS, 1));
  first.rollUp();
  fillCalls(first, callsAt(START_MS + 3_600_000, 2_000));
  rigs.pop()?.close();
  const next = open(folder);
  expectExact(next, 240);
  // Older than what is written.
  fillCalls(next, callsAt(START_MS + 500, 4_000));
  expectExact(next, 360);
  next.rollUp();
  expectExact(next, 360);
  expect(readUsageMark(next.database).block).toBe(3);
});

test('records whose sums could not be written are gathered again', () => {
  const rig = open(newFolder());
  fillCalls(rig, callsAt(START_MS, 1));
  rig.database.run("CREATE TRIGGER refuse BEFORE INSERT ON usage_block BEGIN SELECT RAISE(ABORT, 'not now'); END");
  expect(() => rig.rollUp()).toThrow('not now');
  expectExact(rig, 120);
  const last = rig.appendOnly([{ kind: 'refused', record: callsAt(START_MS, 9_000, 1)[0] as CallRecord }]);
  rig.ingest(last);
  expectExact(rig, 121);
  rig.database.run('DROP TRIGGER refuse');
  rig.rollUp();
  expectExact(rig, 121);
  expect(readUsageMark(rig.database).block).toBe(last);
});

test('a past day includes calls that end late, in its time zone and after a change', () => {
  const rig = open(newFolder());
  fillCalls(rig, callsAt(START_MS, 1));
  rig.rollUp();
  for (const [nth, zone] of ['UTC', 'Asia/Kathmandu', 'UTC'].entries()) {
    const sql = "UPDATE account SET time_zone = ? WHERE id = 'default'";
    expect(rig.keepWrites([[{ sql, parameters: [zone], changes: 1 }]])).toBe(true);
    fillCalls(rig, callsAt(START_MS + 7_000 * nth, 2_000 * (nth + 1)));
    rig.rollUp();
    expectExact(rig, 120 * (nth + 2));
  }
});

test.each([true, false])(
  'charges of a clock that was ahead stay in the sums of a new zone, written: %p',
  (isWritten) => {
    const rig = open(newFolder());
    const nowMs = Date.now();
    const end = (endedMs: number) => {
      const { record, ...settled } = settledCall(`${requestIdFloor(endedMs)}${'0'.repeat(20)}`, {
        held: 5_000n,
        output: 100,
        changes: { at_ms: endedMs },
      });
      rig.append([{ kind: 'end', record, hold: { amount: 5_000n, prepaid: false }, ...settled, at_ms: endedMs }]);
    };
    end((windowAt('day', 'America/New_York', nowMs).endMs ?? 0) + 3_600_000);
    if (isWritten) rig.rollUp();
    const sql = "UPDATE account SET time_zone = 'America/New_York' WHERE id = 'default'";
    expect(rig.keepWrites([[{ sql, parameters: [], changes: 1 }]])).toBe(true);
    end(nowMs);
    rig.rollUp();
    for (const days of [1, 29]) {
      const fromMs = windowAt('day', 'UTC', nowMs).startMs - 30 * 86_400_000;
      const range = { account: 'default', fromMs, toMs: fromMs + days * 86_400_000, zone: null };
      const { rows, before, after, charged } = readCharges(rig.database, range);
      expect(before + rows.reduce((sum, { amount }) => sum + amount, 0n) + after).toBe(charged);
      expect(charged).toBe(400n);
    }
  },
);
