/**
 * Tests that acknowledged writes are on disk, and that nothing hangs or is duplicated, when the disk fills or the
 * writer dies.
 */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { outcomeOf } from '../contracts/store-rig.ts';
import { DISK, type FilePort } from '../journal/file-port.ts';
import type { StoredAccount } from '../ports/policy.ts';
import type { StoreError } from '../ports/store-errors.ts';
import { heldCall, recompute, settledCall } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath } from './database/connection.ts';
import { openReading, openStore } from './open-store.ts';
import { proveLedger } from './prove/prove-ledger.ts';
import { FILLED_BYTES, fillDatabase, giveRoom } from './testing/fill-database.ts';

const newFolder = temporaryFolders();
const EVERYTHING = { limit: 1_000_000, sinceMs: null, requestId: null, keyId: null };
const MOVEMENT = { account: 'default', amount: 10n, note: null, at_ms: 1 };
const FREE = { cost_nano_usd: '0' };
const TEAM: StoredAccount = {
  id: 'team',
  name: 'Team',
  mode: 'postpaid',
  markUpPpm: 0,
  timeZone: 'UTC',
  holds: null,
  createdAtMs: 1,
};

async function readIds(dataDir: string): Promise<string[]> {
  const reading = openReading(dataDir);
  const records = await reading.readCalls(EVERYTHING);
  reading.close();
  return records.map(({ request_id }) => request_id);
}

/** Records each change of writability, and waits for the next. */
function watchChanges() {
  const seen: (string | null)[] = [];
  let wake = () => {};
  return {
    seen,
    onWritableChange(failure: StoreError | null) {
      seen.push(failure?.kind ?? null);
      wake();
    },
    async until(count: number) {
      while (seen.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

test('kill -9 at any moment loses no acknowledged record and doubles none', async () => {
  const folder = newFolder();
  const acknowledged: string[] = [];
  for (let round = 1; round <= 5; round++) {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'testing/append-until-killed.ts'), folder, `${round}`],
      {
        stdout: 'pipe',
        stderr: 'inherit',
      },
    );
    let said = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      said += decoder.decode(chunk, { stream: true });
      if (said.length > round * 3_000) child.kill('SIGKILL');
    }
    await child.exited;
    acknowledged.push(...said.split('\n').slice(0, -1));
    const kept = await readIds(folder);
    expect(new Set(kept).size).toBe(kept.length);
    expect(new Set(acknowledged).difference(new Set(kept)).size).toBe(0);
  }
  expect(acknowledged.length).toBeGreaterThan(1_000);
});

/** The disk under the journal, whose faults a test switches on. */
function watchedDisk() {
  const disk = { code: null as string | null };
  const refuse = () => {
    if (disk.code !== null) throw Object.assign(new Error(`${disk.code}: simulated`), { code: disk.code });
  };
  const files: FilePort = {
    ...DISK,
    write(file, bytes, position) {
      refuse();
      return DISK.write(file, bytes, position);
    },
    async fill(file, length, position) {
      refuse();
      await DISK.fill(file, length, position);
    },
  };
  return { disk, files };
}

describe('a full disk under the journal', () => {
  test('rejects what is waited for, reports that, and accepts it again once there is room', async () => {
    const folder = newFolder();
    const changes = watchChanges();
    const { disk, files } = watchedDisk();
    const store = await openStore({ dataDir: folder, files, onWritableChange: changes.onWritableChange });
    for (const id of ['abandoned', 'settled']) await store.ledger.hold(heldCall(id, 40n));
    disk.code = 'ENOSPC';
    const first = store.recorder.append(sampleRecord('first'));
    await expect(first).rejects.toMatchObject({ kind: 'unknown' });
    expect([store.recorder.writable(), changes.seen]).toEqual([false, ['full']]);
    expect(await outcomeOf(store.recorder.append(sampleRecord('second')))).toBe('full');
    expect(await outcomeOf(store.ledger.settle(settledCall('abandoned', { held: 40n, output: 10 })))).toBe('full');
    await store.ledger.abandon('abandoned');
    expect(await outcomeOf(store.calls.readCalls(EVERYTHING))).toBe('full');
    expect(await outcomeOf(store.ledger.topup({ ...MOVEMENT, id: 'm' }))).toBe('full');
    disk.code = null;
    await changes.until(2);
    expect([store.recorder.writable(), changes.seen]).toEqual([true, ['full', null]]);
    await store.ledger.settle(settledCall('settled', { held: 40n, output: 10 }));
    await store.recorder.append(sampleRecord('after', FREE));
    expect(await readIds(folder)).toEqual(['settled', 'after', 'abandoned']);
    expect(await store.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 20n }]);
    await store.close();
    expect(proveLedger(databasePath(folder), recompute).problem).toBeNull();
  });

  test('a kill meanwhile loses nothing that was acknowledged', async () => {
    const folder = newFolder();
    const { disk, files } = watchedDisk();
    const store = await openStore({ dataDir: folder, files });
    for (const id of ['ended', 'open']) await store.ledger.hold(heldCall(id, 40n));
    await store.ledger.settle(settledCall('ended', { held: 40n, output: 10 }));
    disk.code = 'EIO';
    expect(await outcomeOf(store.ledger.settle(settledCall('open', { held: 40n, output: 10 })))).toBe('unknown');
    await store.close().catch(() => undefined);
    const next = await openStore({ dataDir: folder });
    expect(next.recovered).toEqual({ posted: 0, voided: 1 });
    expect(await next.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 20n }]);
    await next.close();
    expect(proveLedger(databasePath(folder), recompute)).toMatchObject({ calls: 2, problem: null });
  });
});

describe('a full disk under the database', () => {
  test('calls go on; changes and what reads the tables are refused until there is room, and then all is there', async () => {
    const folder = newFolder();
    const changes = watchChanges();
    const requests = watchChanges();
    const store = await openStore({
      dataDir: folder,
      databaseBytesMax: FILLED_BYTES,
      onDatabaseChange: changes.onWritableChange,
      onWritableChange: requests.onWritableChange,
    });
    await store.ledger.hold(heldCall('before', 40n));
    expect(await outcomeOf(fillDatabase(folder, store))).toBe('full');
    expect([changes.seen, store.ledger.writable(), store.recorder.writable()]).toEqual([['full'], true, true]);
    await store.ledger.settle(settledCall('before', { held: 40n, output: 10 }));
    await store.ledger.hold(heldCall('meanwhile', 40n));
    await store.ledger.settle(settledCall('meanwhile', { held: 40n, output: 10 }));
    await store.recorder.append(sampleRecord('refused', { ...FREE, session: 'x'.repeat(20_000) }));
    expect(await store.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 40n }]);
    expect(await outcomeOf(store.calls.readCalls(EVERYTHING))).toBe('full');
    for (const _ of [1, 2]) expect(await store.ledger.topup({ ...MOVEMENT, id: 'm' })).toMatchObject({ toppedUp: 10n });
    expect((await readIds(folder)).sort()).toEqual(['before', 'meanwhile', 'refused']);
    giveRoom(folder);
    await changes.until(2);
    expect([changes.seen, requests.seen]).toEqual([['full', null], []]);
    expect(await store.calls.readCalls(EVERYTHING)).toHaveLength(3);
    expect(await store.ledger.topup({ ...MOVEMENT, id: 'm' })).toMatchObject({ toppedUp: 10n });
    await store.close();
    expect(proveLedger(databasePath(folder), recompute)).toMatchObject({ calls: 2, problem: null });
  });

  test('a kill meanwhile loses nothing: the next start takes it from the journal', async () => {
    const folder = newFolder();
    const store = await openStore({ dataDir: folder, databaseBytesMax: FILLED_BYTES });
    expect(await outcomeOf(fillDatabase(folder, store))).toBe('full');
    await store.ledger.hold(heldCall('ended', 40n));
    await store.ledger.settle(settledCall('ended', { held: 40n, output: 10 }));
    await store.ledger.hold(heldCall('open', 40n));
    await store.close();
    giveRoom(folder);
    const next = await openStore({ dataDir: folder });
    expect(next.recovered).toEqual({ posted: 0, voided: 1 });
    expect(await next.ledger.readBalances()).toMatchObject([{ held: 0n, charged: 20n }]);
    expect(await next.calls.readCalls(EVERYTHING)).toHaveLength(2);
    await next.close();
  });
});

describe('a writer that dies', () => {
  test.each(['exit', 'throw'])('by %s: its writes are rejected, and it is restarted; calls go on', async (way) => {
    const folder = newFolder();
    const changes = watchChanges();
    const store = await openStore({
      dataDir: folder,
      onDatabaseChange: changes.onWritableChange,
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    await store.ledger.hold(heldCall('running', 40n));
    const save = (id: string) =>
      outcomeOf(store.policies.save([{ of: 'account', isNew: true, account: { ...TEAM, id } }]));
    expect(await Promise.all([save(way), save('with-it')])).toEqual(['unknown', 'unknown']);
    await changes.until(1);
    expect(await save('meanwhile')).toBe('failed');
    expect(store.recorder.writable()).toBe(true);
    await store.ledger.settle(settledCall('running', { held: 40n, output: 10 }));
    await changes.until(2);
    expect(changes.seen).toEqual(['unknown', null]);
    expect(await save('after')).toBe('kept');
    expect((await store.calls.readCalls(EVERYTHING)).map(({ request_id }) => request_id)).toEqual(['running']);
    expect((await store.ledger.readBalances()).map(({ account }) => account)).toEqual(['after', 'default']);
    await store.close();
    expect(proveLedger(databasePath(folder), recompute)).toMatchObject({ calls: 1, problem: null });
    const next = await openStore({ dataDir: folder });
    expect(next).toMatchObject({ epoch: store.epoch + 1, recovered: { posted: 0, voided: 0 } });
    await next.close();
  });

  test('while the store closes: closing still completes', async () => {
    const store = await openStore({
      dataDir: newFolder(),
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    const doomed = outcomeOf(store.policies.save([{ of: 'account', isNew: true, account: { ...TEAM, id: 'exit' } }]));
    const closed = store.close();
    expect(await doomed).toBe('unknown');
    await closed;
  });

  test('before it opened: opening fails and is not retried', async () => {
    const changes = watchChanges();
    const opening = openStore({
      dataDir: newFolder(),
      onDatabaseChange: changes.onWritableChange,
      writerProgram: new URL('./testing/not-there.ts', import.meta.url),
    });
    await expect(opening).rejects.toMatchObject({ name: 'Unavailable', kind: 'failed' });
    expect(changes.seen).toEqual([]);
  });
});
