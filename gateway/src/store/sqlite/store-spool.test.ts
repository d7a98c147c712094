/**
 * Tests that calls end even while the store accepts no writes, and are in the ledger once, whatever happens in between.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../test/harness/eventually.ts';
import { outcomeOf } from '../contracts/store-rig.ts';
import type { Store } from '../ports/store.ts';
import { heldCall, recompute, settledCall } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath } from './database/connection.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import { keepSettlement } from './operations/ledger-operations.ts';
import { proveLedger } from './prove/prove-ledger.ts';
import { renderFrame } from './spool/spool-file.ts';
import { FILLED_BYTES, fillDatabase, giveRoom } from './testing/fill-database.ts';

const newFolder = temporaryFolders();

/** A store, with its reports. */
async function openWatched(dataDir: string, options: Partial<StoreOptions> = {}) {
  const told = { changes: [] as (string | null)[], problems: [] as string[], drained: 0 };
  let wake = (): void => undefined;
  const store = await openStore({
    dataDir,
    databaseBytesMax: FILLED_BYTES,
    onWritableChange(failure) {
      told.changes.push(failure?.kind ?? null);
      wake();
    },
    onSpoolProblem: (problem) => told.problems.push(problem),
    onSpoolDrained(calls) {
      told.drained += calls;
      wake();
    },
    ...options,
  });
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return { store, told, until };
}

/** The store accepts nothing from here on. */
async function fill(dataDir: string, store: Store): Promise<void> {
  expect(await outcomeOf(fillDatabase(dataDir, store))).toBe('full');
}

async function readById(store: Store) {
  const records = await store.calls.readCalls({ limit: 1_000, sinceMs: null, requestId: null, keyId: null });
  return new Map(records.map((record) => [record.request_id, record]));
}

function prove(dataDir: string) {
  return proveLedger(databasePath(dataDir), recompute);
}

describe('while the disk is full', () => {
  test('calls that run go on and end, and all is in the ledger before the store says it is back', async () => {
    const folder = newFolder();
    const { store, told, until } = await openWatched(folder);
    for (const id of ['short', 'long']) await store.ledger.hold(heldCall(id, 50n));
    await fill(folder, store);
    await store.ledger.settle(settledCall('short', { held: 50n, output: 10 }));
    await store.ledger.extend('long', 1, 30n);
    await store.ledger.settle(settledCall('long', { held: 80n, output: 35 }));
    expect([store.ledger.writable(), store.recorder.writable(), told.changes]).toEqual([false, false, ['full']]);
    expect(await store.ledger.readBalances()).toMatchObject([{ held: 100n, charged: 0n }]);
    giveRoom(folder);
    await until(() => told.changes.length === 2);
    expect(await store.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 90n, writtenOff: 0n }]);
    expect([told, store.ledger.writable()]).toEqual([{ changes: ['full', null], problems: [], drained: 2 }, true]);
    await store.close();
    expect(prove(folder)).toMatchObject({ calls: 2, problem: null });
  });

  test('and again and again: each time it says so, and each time it is back', async () => {
    const folder = newFolder();
    const { store, told, until } = await openWatched(folder);
    for (let times = 1; times <= 3; times++) {
      await fill(folder, store);
      giveRoom(folder);
      await until(() => told.changes.length === 2 * times);
      expect([store.ledger.writable(), told.changes.slice(-2)]).toEqual([true, ['full', null]]);
    }
    await store.close();
  });

  test('the process ends: the next start has the ends before it ends what nobody ended', async () => {
    const folder = newFolder();
    const { store } = await openWatched(folder);
    for (const id of ['ended', 'cut']) await store.ledger.hold(heldCall(id, 50n));
    await fill(folder, store);
    await store.ledger.settle(settledCall('ended', { held: 50n, output: 10 }));
    await store.close();
    giveRoom(folder);
    const { store: next, told } = await openWatched(folder);
    expect(next).toMatchObject({ drained: { settled: 1, problems: [] }, recovered: { posted: 0, voided: 1 } });
    const records = await readById(next);
    expect([records.get('ended')?.error, records.get('cut')?.error]).toEqual([null, 'gateway_crashed']);
    await next.close();
    const { store: third } = await openWatched(folder);
    expect(third.drained).toEqual({ settled: 0, problems: [] });
    await third.close();
    expect([told.problems, prove(folder).problem]).toEqual([[], null]);
  });

  test('a call whose hold was not kept either costs its account nothing; the operator bears it', async () => {
    const folder = newFolder();
    const { store, told, until } = await openWatched(folder);
    await fill(folder, store);
    const failed = { status: 503, error: 'store_unavailable' };
    const unheld = settledCall('unheld', { held: 0n, output: 20, changes: failed });
    await store.ledger.settleUnheld(unheld);
    giveRoom(folder);
    await until(() => told.changes.length === 2);
    expect((await readById(store)).get('unheld')).toEqual(unheld.record);
    expect(await store.ledger.readBalances()).toMatchObject([
      { charged: 0n, writtenOff: 40n, held: 0n, available: 0n },
    ]);
    await store.close();
    expect(prove(folder)).toMatchObject({ entries: 3, calls: 1, problem: null });
  });

  test('where the spool takes nothing either, the call is told so and is ended later, as ever', async () => {
    const folder = newFolder();
    const { store, told, until } = await openWatched(folder, {
      reach(point) {
        if (point === 'before-spool-append') throw new Error('the disk is gone');
      },
    });
    await store.ledger.hold(heldCall('lost', 50n));
    await fill(folder, store);
    const ended = store.ledger.settle(settledCall('lost', { held: 50n, output: 10 }));
    expect(await outcomeOf(ended)).toBe('unknown');
    const abandoned = outcomeOf(store.ledger.abandon('lost'));
    expect(told.problems).toEqual([
      expect.stringContaining('does not take what call lost asks for: Error: the disk is gone'),
    ]);
    giveRoom(folder);
    await until(() => told.changes.length === 2);
    expect(['full', 'kept']).toContain(await abandoned);
    await store.ledger.abandon('lost');
    expect((await readById(store)).get('lost')).toMatchObject({ error: 'gateway_fault', cost_nano_usd: '0' });
    await store.close();
    expect(prove(folder).problem).toBeNull();
  });
});

test('a call whose hold may have been kept, and which has ended otherwise, is ended by the spool once', async () => {
  const folder = newFolder();
  const { store, told, until } = await openWatched(folder);
  await store.ledger.hold(heldCall('held after all', 50n));
  await store.ledger.settleUnheld(settledCall('held after all', { held: 0n, output: 20 }));
  await until(() => told.drained === 1);
  await store.ledger.settleUnheld(settledCall('held after all', { held: 0n, output: 20 }));
  await until(() => told.drained === 2);
  expect(await store.ledger.readBalances()).toMatchObject([{ charged: 0n, writtenOff: 40n, held: 0n }]);
  expect(told).toEqual({ changes: [], problems: [], drained: 2 });
  await store.close();
  expect(prove(folder)).toMatchObject({ entries: 3, calls: 1, problem: null });
});

describe('the writer thread dies', () => {
  test('beside the end of a call: that is kept once', async () => {
    const folder = newFolder();
    const { store, told, until } = await openWatched(folder, {
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    await store.ledger.hold(heldCall('a', 50n));
    const doomed = store.recorder.append(sampleRecord('exit'));
    const ended = store.ledger.settle(settledCall('a', { held: 50n, output: 10 }));
    await expect(doomed).rejects.toMatchObject({ name: 'OutcomeUnknown' });
    await ended;
    await until(() => told.changes.length === 2);
    expect(await store.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 20n }]);
    await store.close();
    expect([told.problems, prove(folder).problem]).toEqual([[], null]);
  });
});

describe('a spool that another process left', () => {
  /** Ends a process that held 50 for each call, and puts these settlements into its spool. */
  async function leave(folder: string, held: readonly string[], file: Buffer): Promise<void> {
    const { store } = await openWatched(folder);
    for (const id of held) await store.ledger.hold(heldCall(id, 50n));
    await store.close();
    writeFileSync(join(folder, 'spool'), file);
  }

  function frameOf(sequence: number, ...[id, parts]: Parameters<typeof settledCall>): Buffer {
    return renderFrame(sequence, JSON.stringify(keepSettlement(settledCall(id, parts))));
  }

  test.each([
    ['posts more than is held: it is extended', 80n, 35, { charged: 70n, writtenOff: 0n }],
    ['releases more than is held', 90n, 10, { charged: 20n, writtenOff: 0n }],
    ['releases less than is held', 30n, 10, { charged: 20n, writtenOff: 0n }],
  ])('%s', async (_, held, output, expected) => {
    const folder = newFolder();
    await leave(folder, ['a'], frameOf(1, 'a', { held, output }));
    const { store } = await openWatched(folder);
    expect(await store.ledger.readBalances()).toMatchObject([{ ...expected, held: 0n }]);
    await store.close();
    expect(prove(folder).problem).toBeNull();
  });

  test('posts more than a prepaid balance bears: the rest is the operator’s', async () => {
    const folder = newFolder();
    await leave(folder, ['a'], frameOf(1, 'a', { held: 80n, output: 35 }));
    const database = new Database(databasePath(folder));
    database.run("UPDATE account SET mode = 'prepaid' WHERE id = 'default'");
    database.close();
    const { store } = await openWatched(folder);
    expect(await store.ledger.readBalances()).toMatchObject([{ charged: 50n, writtenOff: 20n, held: 0n }]);
    await store.close();
    expect(prove(folder).problem).toBeNull();
  });

  test.each([
    ['a last entry that was cut off', (whole: Buffer) => whole.subarray(0, -20), ['a'], 'cut off'],
    ['a damaged entry', (whole: Buffer) => whole.fill(0xff, 60, 64), ['b'], 'damaged'],
  ])('%s is told of and kept aside; its call is ended as by a crash', async (_, spoil, kept, words) => {
    const folder = newFolder();
    const whole = Buffer.concat(['a', 'b'].map((id, index) => frameOf(index + 1, id, { held: 50n, output: 10 })));
    const spoilt = Buffer.from(spoil(whole));
    await leave(folder, ['a', 'b'], spoilt);
    const { store, told } = await openWatched(folder);
    expect(store.drained.settled).toBe(1);
    expect(told.problems).toEqual([expect.stringContaining(words)]);
    const aside = readdirSync(folder).find((name) => name.startsWith('spool.kept-')) ?? '';
    expect(readFileSync(join(folder, aside))).toEqual(spoilt);
    const records = await readById(store);
    expect([...records.values()].filter(({ error }) => error === null).map(({ request_id }) => request_id)).toEqual(
      kept,
    );
    await store.close();
    expect(prove(folder)).toMatchObject({ calls: 2, problem: null });
  });

  test('an end that the ledger refuses is told of and kept aside', async () => {
    const folder = newFolder();
    await leave(folder, [], frameOf(1, 'stranger', { held: 50n, output: 10, account: 'nobody' }));
    const { store, told } = await openWatched(folder);
    expect(told.problems).toEqual([expect.stringContaining('There is no account "nobody"')]);
    await store.close();
    expect(prove(folder)).toMatchObject({ calls: 0, problem: null });
  });
});

test('the spool has room on the disk before it is needed, and nobody else reads it', async () => {
  const folder = newFolder();
  const { store } = await openWatched(folder);
  await store.close();
  const { size, blocks, mode } = statSync(join(folder, 'spool'));
  expect([size, mode & 0o777]).toEqual([1_048_576, 0o600]);
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
});

test('the more calls run, the more room it takes', async () => {
  const folder = newFolder();
  const { store } = await openWatched(folder, { databaseBytesMax: 50_000_000 });
  await Promise.all(Array.from({ length: 300 }, (_, number) => store.ledger.hold(heldCall(`call ${number}`, 1n))));
  // Space is allocated concurrently with the holds, which do not wait for it.
  const size = () => statSync(join(folder, 'spool')).size;
  await eventually('the spool to have room for 300 calls', () => (size() === 2 * 1_048_576 ? true : null));
  await store.close();
  expect(size()).toBe(2 * 1_048_576);
});

test('calls that have ended need no room, however soon after their beginning', async () => {
  const folder = newFolder();
  const { store } = await openWatched(folder, { databaseBytesMax: 50_000_000 });
  for (let number = 0; number < 300; number++) {
    const settled = settledCall(`call ${number}`, { held: 1n, output: 0 });
    const atOnce = [store.ledger.hold(heldCall(`call ${number}`, 1n)), store.ledger.settle(settled)];
    await Promise.all(atOnce);
  }
  await store.close();
  expect(statSync(join(folder, 'spool')).size).toBe(1_048_576);
});
