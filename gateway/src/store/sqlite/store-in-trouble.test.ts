/**
 * Tests that acknowledged writes are on disk, and that nothing hangs or is duplicated, when the disk fills or the
 * writer dies.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { StoreError } from '../ports/store-errors.ts';
import { heldCall, recompute, settledCall } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath } from './database/connection.ts';
import { openReading, openStore } from './open-store.ts';

import { proveLedger } from './prove/prove-ledger.ts';

const newFolder = temporaryFolders();

async function readIds(dataDir: string): Promise<string[]> {
  const reading = openReading(dataDir);
  const records = await reading.readCalls({ limit: 1_000_000, sinceMs: null, requestId: null, keyId: null });
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
}, 20_000);

describe('a full disk', () => {
  test('rejects records while it is full, reports that, and accepts them again once there is room', async () => {
    const folder = newFolder();
    await (await openStore({ dataDir: folder })).close();
    const filler = new Database(`${folder}/tollgate.db`);
    filler.run('CREATE TABLE filler (bytes BLOB)');
    filler.run('INSERT INTO filler VALUES (zeroblob(400000))');
    filler.close();
    const changes = watchChanges();
    const store = await openStore({
      dataDir: folder,
      databaseBytesMax: 600_000,
      onWritableChange: changes.onWritableChange,
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1_000 }, (_, index) => store.recorder.append(sampleRecord(`r${index}`))),
    );
    expect(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason.kind === 'full')).toBe(true);
    expect(store.recorder.writable()).toBe(false);
    expect(changes.seen).toEqual(['full']);
    expect(await readIds(folder)).toEqual([]);
    // It changes nothing and therefore succeeds on a full disk.
    await store.ledger.abandon('a call that holds nothing');
    expect([store.recorder.writable(), changes.seen]).toEqual([false, ['full']]);

    const room = new Database(`${folder}/tollgate.db`);
    room.run('PRAGMA busy_timeout = 5000');
    room.run('DROP TABLE filler');
    room.close();
    await changes.until(2);
    expect(changes.seen).toEqual(['full', null]);
    expect(store.recorder.writable()).toBe(true);
    await store.recorder.append(sampleRecord('after'));
    expect(await readIds(folder)).toEqual(['after']);
    await store.close();
  });
});

describe('a writer that dies', () => {
  test.each(['exit', 'throw'])('by %s: its batch is rejected, and it is restarted', async (way) => {
    const folder = newFolder();
    const changes = watchChanges();
    const store = await openStore({
      dataDir: folder,
      onWritableChange: changes.onWritableChange,
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    await store.recorder.append(sampleRecord('before'));
    const doomed = [store.recorder.append(sampleRecord(way)), store.recorder.append(sampleRecord('with it'))];
    const kinds = (await Promise.allSettled(doomed)).map(
      (outcome) => outcome.status === 'rejected' && outcome.reason.kind,
    );
    expect(kinds).toEqual(['unknown', 'unknown']);
    await changes.until(1);
    expect(store.recorder.writable()).toBe(false);
    await expect(store.recorder.append(sampleRecord('meanwhile'))).rejects.toMatchObject({ kind: 'failed' });
    await changes.until(2);
    expect(changes.seen).toEqual(['unknown', null]);
    await store.recorder.append(sampleRecord('after'));
    expect((await readIds(folder)).sort()).toEqual(['after', 'before']);
    await store.close();
  });

  test('while calls run: they continue in the same epoch and keep their holds', async () => {
    const folder = newFolder();
    const changes = watchChanges();
    const store = await openStore({
      dataDir: folder,
      onWritableChange: changes.onWritableChange,
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    await store.ledger.hold(heldCall('running', 40n));
    await store.ledger.hold(heldCall('lost', 40n));
    const doomed = store.recorder.append(sampleRecord('exit'));
    await expect(doomed).rejects.toMatchObject({ name: 'OutcomeUnknown' });
    await changes.until(2);
    await store.ledger.settle(settledCall('running', { held: 40n, output: 10 }));
    await store.ledger.abandon('lost');
    expect(await store.ledger.readBalances()).toMatchObject([{ available: -20n, held: 0n, charged: 20n }]);
    await store.close();
    expect(proveLedger(databasePath(folder), recompute)).toMatchObject({ entries: 4, calls: 2, problem: null });
    const next = await openStore({ dataDir: folder });
    expect(next).toMatchObject({ epoch: store.epoch + 1, recovered: { posted: 0, voided: 0 } });
    await next.close();
  });

  test('while the store closes: closing still completes', async () => {
    const store = await openStore({
      dataDir: newFolder(),
      writerProgram: new URL('./testing/dying-writer.ts', import.meta.url),
    });
    const doomed = store.recorder.append(sampleRecord('exit'));
    const closed = store.close();
    await expect(doomed).rejects.toMatchObject({ name: 'OutcomeUnknown' });
    await closed;
  });

  test('before it opened: opening fails and is not retried', async () => {
    const changes = watchChanges();
    const opening = openStore({
      dataDir: newFolder(),
      onWritableChange: changes.onWritableChange,
      writerProgram: new URL('./testing/not-there.ts', import.meta.url),
    });
    await expect(opening).rejects.toMatchObject({ name: 'Unavailable', kind: 'failed' });
    expect(changes.seen).toEqual([]);
  });
});
