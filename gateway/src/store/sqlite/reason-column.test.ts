/**
 * Tests that a record's reason is stored, and compared with the journal.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import { heldCall, recompute, settledCall } from '../testing/sample-call.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath } from './database/connection.ts';
import { openStore } from './open-store.ts';
import { proveLedger } from './prove/prove-ledger.ts';

const newFolder = temporaryFolders();
const REASON: Reason = {
  kind: 'cut',
  target: { provider: 'lab', model: 'm' },
  upstream: { status: null, type: 'overloaded_error', message: 'half \ud83d' },
  at_step: 'answer',
};

async function settle(dataDir: string, id: string, reason: Reason | null): Promise<void> {
  const store = await openStore({ dataDir });
  await store.ledger.hold(heldCall(id, 9n));
  await store.ledger.settle(settledCall(id, { held: 9n, output: 2, changes: { reason } }));
  await store.close();
}

async function reasonsOf(dataDir: string): Promise<readonly (Reason | null)[]> {
  const store = await openStore({ dataDir });
  const records = await store.calls.readCalls({ limit: 9, sinceMs: null, requestId: null, keyId: null });
  await store.close();
  return records.map(({ reason }) => reason);
}

const proof = (dataDir: string) => proveLedger(databasePath(dataDir), recompute).problem;

test('a reason is kept as it was given, and a change of it is found', async () => {
  const dataDir = newFolder();
  await settle(dataDir, 'a', REASON);
  await settle(dataDir, 'b', null);
  expect(await reasonsOf(dataDir)).toEqual([null, REASON]);
  expect(proof(dataDir)).toBeNull();
  const database = new Database(databasePath(dataDir), { strict: true });
  database.run('DROP TRIGGER call_record_keeps');
  const { reason: kept = '' } =
    database.query<{ reason: string }, []>("SELECT reason FROM call_record WHERE request_id = 'a'").get() ?? {};
  for (const [id, before, changed] of [
    ['a', kept, kept.replace('cut', 'ours')],
    ['a', kept, null],
    ['b', null, kept],
  ] as const) {
    const set = (reason: string | null) =>
      database.run('UPDATE call_record SET reason = ? WHERE request_id = ?', [reason, id]);
    set(changed);
    expect(proof(dataDir)).toMatchObject({ message: expect.stringContaining(`the record of call ${id} has reason`) });
    set(before);
  }
  database.close();
  expect(proof(dataDir)).toBeNull();
});
