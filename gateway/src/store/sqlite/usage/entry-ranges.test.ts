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
import { keepHold, keepMovement, keepSettlement, type Operation } from '../writer/ledger-operations.ts';
import { openWriterDatabase, type WriterDatabase } from '../writer/writer-database.ts';
import { findEntryRanges } from './entry-ranges.ts';
import { proveUsage } from './prove-usage.ts';
import { readCall } from './read-logs.ts';

const newFolder = temporaryFolders();
const START_MS = Date.UTC(2025, 4, 1);
const TENANT = { account: 'default', workspaces: null };
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

function open(): { writer: WriterDatabase; reading: Database } {
  const path = databasePath(newFolder());
  const writer = openWriterDatabase({ path, databaseBytesMax: null, epoch: null }, START_MS, () => undefined);
  closers.push(() => writer.close());
  const reading = openReadConnection(path);
  closers.push(() => reading.close());
  return { writer, reading };
}

function callAt(atMs: number, nth: number) {
  const id = requestIdFloor(atMs) + nth.toString(16).padStart(20, '0');
  return sampleRecord(id, { at_ms: atMs, account: 'default', cost_nano_usd: '70' });
}

type Call = ReturnType<typeof callAt>;
const hold = (call: Call) => keepHold({ draft: call, amount: 100n });
const settle = (call: Call) => keepSettlement({ record: call, posted: 70n, released: 30n, writtenOff: 0n });

function keep(writer: WriterDatabase, operations: readonly Operation[]): void {
  expect(writer.keepOperations(JSON.stringify(operations))).toBe(true);
}

function kindsOf(reading: Database, { request_id }: Call): string[] {
  return readCall(reading, TENANT, request_id)?.entries.map(({ kind }) => kind) ?? [];
}

test('finds a call that ended thousands of entries after its start, and one that ended at once', () => {
  const { writer, reading } = open();
  const calls = Array.from({ length: 3_000 }, (_, nth) => callAt(START_MS + nth * 1_000, nth));
  const [first, second] = calls;
  if (first === undefined || second === undefined) throw new Error('no calls');
  keep(writer, [hold(first)]);
  for (const call of calls.slice(1)) keep(writer, [hold(call), settle(call)]);
  keep(writer, [settle(first)]);
  for (const isNoted of [false, true]) {
    if (isNoted) writer.rollUp();
    for (const call of [first, second, calls.at(-1) ?? first, calls[1_500] ?? first]) {
      expect(kindsOf(reading, call)).toEqual(['hold', 'post']);
    }
  }
  // Its own range, and the one in which an older call ended; none between them.
  const found = findEntryRanges(reading, second.request_id, second.request_id, 1_000);
  expect(found.map(({ first }) => first)).toEqual([1, 5_001]);
}, 60_000);

test('a clock that was set back hides no entry of a call or a proof', () => {
  const { writer, reading } = open();
  const hourMs = 3_600_000;
  let nth = 0;
  const run = (fromMs: number) => {
    const calls = Array.from({ length: 1_200 }, (_, index) => callAt(fromMs + index * 100, nth++));
    keep(
      writer,
      calls.flatMap((call) => [hold(call), settle(call)]),
    );
    return calls;
  };
  const calls = [...run(START_MS + 2 * hourMs), ...run(START_MS), ...run(START_MS + 4 * hourMs)];
  for (const isNoted of [false, true]) {
    if (isNoted) writer.rollUp();
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
  const { writer, reading } = open();
  const [before, after] = [callAt(START_MS, 1), callAt(START_MS + 60_000, 2)];
  keep(writer, [hold(before), settle(before)]);
  const topups = Array.from({ length: 2_500 }, (_, nth) =>
    keepMovement('topup', { id: `z${nth}`, account: 'default', amount: 1n, note: null, at_ms: START_MS }),
  );
  keep(writer, topups);
  keep(writer, [hold(after), settle(after)]);
  writer.rollUp();
  expect(kindsOf(reading, before)).toEqual(['hold', 'post']);
  expect(kindsOf(reading, after)).toEqual(['hold', 'post']);
  const found = findEntryRanges(reading, before.request_id, before.request_id, 1_000);
  expect(found.map(({ first }) => first)).toEqual([1, 2_001]);
});
