/** Tests what the store saves and returns: call records. Policy and the ledger have their own tests. */
import { describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { requestIdFloor } from '../../lib/request-id.ts';
import { databasePath, openWriteConnection } from './database/connection.ts';
import { openReading } from './open-reading.ts';
import { openStore } from './open-store.ts';
import { sampleRecord } from './testing/sample-record.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

const newFolder = temporaryFolders();
const EVERYTHING = { limit: 1_000, sinceMs: null, requestId: null, keyId: null };

describe('call records', () => {
  test('come back as they were given, to the last digit', async () => {
    const store = await openStore({ dataDir: newFolder() });
    const records = [
      sampleRecord('c', { at_ms: 3 }),
      sampleRecord('b', {
        at_ms: 2,
        cost_nano_usd: '9223372036854775807',
        usage_flags: ['sum', 'far_input'],
        end_user: '\u0000"\'; DROP TABLE call_record --☂',
      }),
      sampleRecord('a', {
        at_ms: 1,
        cost_nano_usd: null,
        price_version: null,
        model: null,
        served_model: null,
        provider: null,
        stream: false,
        ttfb_ms: null,
        attempts: [],
        usage_source: 'void',
      }),
    ];
    await Promise.all(records.map((record) => store.recorder.append(record)));
    expect(await store.calls.readCalls(EVERYTHING)).toEqual(records);
    await store.close();
  });

  test('are found newest first, by time, by key and by request', async () => {
    const store = await openStore({ dataDir: newFolder() });
    const keys = ['k1', 'k2', 'k1', 'k2'];
    await Promise.all(
      keys.map((key_id, at_ms) => store.recorder.append(sampleRecord(requestIdFloor(at_ms), { at_ms, key_id }))),
    );
    const ids = async (filter: object) =>
      (await store.calls.readCalls({ ...EVERYTHING, ...filter })).map(({ request_id }) =>
        request_id.replace(/^req_0*(?=\d)/, 'r'),
      );
    expect(await ids({})).toEqual(['r3', 'r2', 'r1', 'r0']);
    expect(await ids({ limit: 2 })).toEqual(['r3', 'r2']);
    expect(await ids({ sinceMs: 2 })).toEqual(['r3', 'r2']);
    expect(await ids({ keyId: 'k1' })).toEqual(['r2', 'r0']);
    expect(await ids({ requestId: requestIdFloor(1) })).toEqual(['r1']);
    expect(await ids({ requestId: "' OR 1=1 --" })).toEqual([]);
    await store.close();
  });

  test('one that is there already, or cannot be held, is refused alone', async () => {
    const store = await openStore({ dataDir: newFolder() });
    const outcomes = await Promise.allSettled([
      store.recorder.append(sampleRecord('a')),
      store.recorder.append(sampleRecord('a')),
      store.recorder.append(sampleRecord('b', { cost_nano_usd: '9223372036854775808' })),
      store.recorder.append(sampleRecord('c', { cost_nano_usd: '1.5' })),
      store.recorder.append(sampleRecord('d', { at_ms: Number.NaN })),
      store.recorder.append(sampleRecord('e')),
    ]);
    const kinds = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'kept' : outcome.reason.kind));
    expect(kinds).toEqual(['kept', 'conflict', 'invalid', 'invalid', 'invalid', 'kept']);
    expect(store.recorder.writable()).toBe(true);
    expect((await store.calls.readCalls(EVERYTHING)).map(({ request_id }) => request_id)).toEqual(['e', 'a']);
    await store.close();
  });

  test('are neither changed, deleted nor replaced', async () => {
    const folder = newFolder();
    const store = await openStore({ dataDir: folder });
    await store.recorder.append(sampleRecord('a'));
    await store.close();
    const database = openWriteConnection(databasePath(folder));
    expect(() => database.run('UPDATE call_record SET status = 500')).toThrow('a call record never changes');
    expect(() => database.run('DELETE FROM call_record')).toThrow('a call record is never deleted');
    expect(() => database.run('INSERT OR REPLACE INTO call_record SELECT * FROM call_record')).toThrow('never deleted');
    database.close();
  });

  test('are read beside the writer, and after it has closed', async () => {
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

  test('lie in files that only their owner can read', async () => {
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
  test('keeps all that was under way, and refuses what comes after', async () => {
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
