/** Tests the files of a store, and its reading beside the writer and while it closes. */
import { describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openReading, openStore } from './open-store.ts';

const newFolder = temporaryFolders();
const EVERYTHING = { limit: 1_000, sinceMs: null, requestId: null, keyId: null };

describe('call records', () => {
  test('are read beside the writer, and after it closed', async () => {
    const folder = newFolder();
    const store = await openStore({ dataDir: folder });
    await store.recorder.append(sampleRecord('a'));
    const beside = openReading(folder);
    expect(await beside.readCalls(EVERYTHING)).toHaveLength(1);
    await store.recorder.append(sampleRecord('b'));
    expect(await beside.readCalls(EVERYTHING)).toHaveLength(2);
    beside.close();
    await store.close();
    const after = openReading(folder);
    expect(await after.readCalls(EVERYTHING)).toHaveLength(2);
    after.close();
  });

  test('are in files that only their owner can read', async () => {
    const folder = newFolder();
    const store = await openStore({ dataDir: folder });
    await store.recorder.append(sampleRecord('a'));
    for (const name of ['tollgate.db', 'tollgate.db-wal', 'tollgate.db-shm']) {
      expect(statSync(`${folder}/${name}`).mode & 0o777).toBe(0o600);
    }
    await store.close();
  });
});

describe('close', () => {
  test('stores all pending records, and rejects later ones', async () => {
    const folder = newFolder();
    const store = await openStore({ dataDir: folder });
    const appends = Array.from({ length: 2_500 }, (_, index) => store.recorder.append(sampleRecord(`r${index}`)));
    const closed = store.close();
    await expect(store.recorder.append(sampleRecord('late'))).rejects.toMatchObject({ kind: 'closed' });
    expect(store.recorder.writable()).toBe(false);
    await Promise.all([closed, ...appends]);
    const reading = openReading(folder);
    expect(await reading.readCalls({ ...EVERYTHING, limit: 5_000 })).toHaveLength(2_500);
    reading.close();
  });
});
