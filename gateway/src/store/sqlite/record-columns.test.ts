/**
 * Tests that a record's reason and trace id are stored, and compared with the journal.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import type { CallRecord } from '../ports/records.ts';
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

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

async function settle(dataDir: string, id: string, changes: Partial<CallRecord>): Promise<void> {
  const store = await openStore({ dataDir });
  await store.ledger.hold(heldCall(id, 9n));
  await store.ledger.settle(settledCall(id, { held: 9n, output: 2, changes }));
  await store.close();
}

async function recordsOf(dataDir: string): Promise<readonly CallRecord[]> {
  const store = await openStore({ dataDir });
  const records = await store.calls.readCalls({ limit: 9, sinceMs: null, requestId: null, keyId: null });
  await store.close();
  return records;
}

const proof = (dataDir: string) => proveLedger(databasePath(dataDir), recompute).problem;

test('both are kept as they were given, and a change of them is found', async () => {
  const dataDir = newFolder();
  await settle(dataDir, 'a', { reason: REASON, trace_id: TRACE_ID });
  await settle(dataDir, 'b', {});
  expect((await recordsOf(dataDir)).map(({ reason, trace_id }) => [reason, trace_id])).toEqual([
    [null, null],
    [REASON, TRACE_ID],
  ]);
  expect(proof(dataDir)).toBeNull();
  const database = new Database(databasePath(dataDir), { strict: true });
  database.run('DROP TRIGGER call_record_keeps');
  const { reason: kept = '' } =
    database.query<{ reason: string }, []>("SELECT reason FROM call_record WHERE request_id = 'a'").get() ?? {};
  for (const [column, id, before, changed] of [
    ['reason', 'a', kept, kept.replace('cut', 'ours')],
    ['reason', 'a', kept, null],
    ['reason', 'b', null, kept],
    ['trace_id', 'a', TRACE_ID, `1${TRACE_ID.slice(1)}`],
    ['trace_id', 'a', TRACE_ID, null],
    ['trace_id', 'b', null, TRACE_ID],
  ] as const) {
    const set = (value: string | null) =>
      database.run(`UPDATE call_record SET ${column} = ? WHERE request_id = ?`, [value, id]);
    set(changed);
    const message = `the record of call ${id} has ${column}`;
    expect(proof(dataDir)).toMatchObject({ message: expect.stringContaining(message) });
    set(before);
  }
  database.close();
  expect(proof(dataDir)).toBeNull();
});

test('a call whose process ended before it keeps its trace', async () => {
  const dataDir = newFolder();
  const store = await openStore({ dataDir });
  for (const [id, trace_id] of [
    ['a', TRACE_ID],
    ['b', null],
  ] as const) {
    const { draft, amount } = heldCall(id, 9n);
    await store.ledger.hold({ draft: { ...draft, trace_id }, amount });
  }
  await store.close();
  const records = await recordsOf(dataDir);
  expect(records.map(({ trace_id, error }) => [trace_id, error])).toEqual([
    [null, 'gateway_crashed'],
    [TRACE_ID, 'gateway_crashed'],
  ]);
  expect(proof(dataDir)).toBeNull();
});
