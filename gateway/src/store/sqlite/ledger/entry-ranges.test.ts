/**
 * Tests that all ledger entries of a call are found, at any progress of the index of ranges, however late the call
 * ended and however the clock was set.
 */
import type { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { openIngestRig } from '../testing/ingest-rig.ts';
import { proveUsage } from '../usage/prove-usage.ts';
import { readCall } from '../usage/read-logs.ts';
import { callRecordValues, INSERT_CALL_RECORD, renderAttempts } from './call-record-row.ts';
import { findEntryRanges, indexEntryRanges } from './entry-ranges.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2025, 4, 1);
const TENANT = { account: 'default', workspaces: null };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/** The ledger of a folder from before the journal, which a take-over has indexed or not. */
function open() {
  const dataDir = newFolder();
  const rig = openIngestRig(dataDir);
  closers.push(() => rig.close());
  const insert = rig.database.prepare(
    `INSERT INTO ledger_entry (seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note, hash)
      VALUES (?, 1, ?, ?, 0, 'default', 0, ?, ?, 1, NULL, x'00')`,
  );
  const insertRecord = rig.database.prepare(INSERT_CALL_RECORD);
  let seq = 0;
  const reading = openReadConnection(databasePath(dataDir));
  closers.push(() => reading.close());
  return {
    reading,
    index: () => indexEntryRanges(rig.database),
    add: (entries: readonly Entry[]) =>
      rig.database.transaction(() => {
        for (const { kind, ref, amount, released, record } of entries) {
          seq += 1;
          insert.run(seq, kind, ref, amount, released);
          if (record === null) continue;
          insertRecord.run(...callRecordValues(record), renderAttempts(record), ...EMPTY, 0);
        }
      })(),
  };
}

/** The columns from the trace to the end of a record before the journal. */
const EMPTY = Array.from({ length: 7 }, () => null);

interface Entry {
  readonly kind: string;
  readonly ref: string;
  readonly amount: number;
  readonly released: number;
  readonly record: Call | null;
}

function callAt(atMs: number, nth: number) {
  const id = requestIdFloor(atMs) + nth.toString(16).padStart(20, '0');
  return sampleRecord(id, { at_ms: atMs, account: 'default', cost_nano_usd: '70' });
}

type Call = ReturnType<typeof callAt>;
const hold = ({ request_id: ref }: Call): Entry => ({ kind: 'hold', ref, amount: 100, released: 0, record: null });
const settle = (record: Call): Entry => ({ kind: 'post', ref: record.request_id, amount: 70, released: 30, record });

function kindsOf(reading: Database, { request_id }: Call): string[] {
  return readCall(reading, TENANT, request_id)?.entries.map(({ kind }) => kind) ?? [];
}

test('finds a call that ended thousands of entries after its start, and one that ended at once', () => {
  const { add, index, reading } = open();
  const calls = Array.from({ length: 3_000 }, (_, nth) => callAt(START_MS + nth * 1_000, nth));
  const [first, second] = calls;
  if (first === undefined || second === undefined) throw new Error('no calls');
  add([hold(first)]);
  add(calls.slice(1).flatMap((call) => [hold(call), settle(call)]));
  add([settle(first)]);
  for (const isNoted of [false, true]) {
    if (isNoted) index();
    for (const call of [first, second, calls.at(-1) ?? first, calls[1_500] ?? first]) {
      expect(kindsOf(reading, call)).toEqual(['hold', 'post']);
    }
  }
  // Its own range, and the one in which an older call ended; none between them.
  const found = findEntryRanges(reading, second.request_id, second.request_id, 1_000);
  expect(found.map(({ first }) => first)).toEqual([1, 5_001]);
}, 60_000);

test('a clock that was set back hides no entry of a call or a proof', () => {
  const { add, index, reading } = open();
  const hourMs = 3_600_000;
  let nth = 0;
  const run = (fromMs: number) => {
    const calls = Array.from({ length: 1_200 }, (_, index) => callAt(fromMs + index * 100, nth++));
    add(calls.flatMap((call) => [hold(call), settle(call)]));
    return calls;
  };
  const calls = [...run(START_MS + 2 * hourMs), ...run(START_MS), ...run(START_MS + 4 * hourMs)];
  for (const isNoted of [false, true]) {
    if (isNoted) index();
    for (const call of calls.filter((_, index) => index % 397 === 0)) {
      expect(kindsOf(reading, call)).toEqual(['hold', 'post']);
    }
    for (const [fromMs, toMs, count] of [
      [START_MS, START_MS + hourMs, 1_200],
      [START_MS + 2 * hourMs, START_MS + 3 * hourMs, 1_200],
      [START_MS, START_MS + 9 * hourMs, 3_600],
    ] as const) {
      const proof = proveUsage(reading, { tenant: TENANT, fromMs, toMs, timeZone: 'UTC', timeMsMax: 30_000 });
      const cost = BigInt(count) * 70n;
      expect(proof).toMatchObject({ usage: cost, records: cost, ledger: cost, calls: count, entries: count });
    }
  }
}, 60_000);

test('ranges without a call are skipped', () => {
  const { add, index, reading } = open();
  const [before, after] = [callAt(START_MS, 1), callAt(START_MS + 60_000, 2)];
  add([hold(before), settle(before)]);
  const topup = { kind: 'topup', amount: 1, released: 0, record: null };
  const topups = Array.from({ length: 2_500 }, (_, nth): Entry => ({ ...topup, ref: `z${nth}` }));
  add(topups);
  add([hold(after), settle(after)]);
  index();
  expect(kindsOf(reading, before)).toEqual(['hold', 'post']);
  expect(kindsOf(reading, after)).toEqual(['hold', 'post']);
  const found = findEntryRanges(reading, before.request_id, before.request_id, 1_000);
  expect(found.map(({ first }) => first)).toEqual([1, 2_001]);
});
