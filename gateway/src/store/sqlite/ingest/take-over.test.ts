/**
 * Tests that a folder from before the journal is taken over once and completely: its spool, the calls that were running,
 * its ledger, and the sums of usage; and that calls, statements and proofs then go on over both.
 */
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePriceVersion } from '../../../billing/price.ts';
import { chargedNanoUsd } from '../../../billing/price-book.ts';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallRecord } from '../../ports/records.ts';
import { heldCall, recompute, settledCall } from '../../testing/sample-call.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection, openWriteConnection } from '../database/connection.ts';
import { callRecordValues, renderAttempts, renderCheckpoint } from '../ledger/call-record-row.ts';
import { migrate } from '../migrations/migrate.ts';
import { unpackOldDataFolder } from '../migrations/testing/old-data-folder.ts';
import { openStore } from '../open-store.ts';
import { proveLedger } from '../prove/prove-ledger.ts';
import { LegacyLedger } from '../testing/write-legacy-ledger.ts';
import { proveUsage } from '../usage/prove-usage.ts';
import { openWriterDatabase } from '../writer/writer-database.ts';
import { readMark } from './mark.ts';

const newFolder = temporaryFolders();

/** A spool file as versions before the journal wrote it. */
function renderSpool(entries: readonly unknown[]): Buffer {
  const frames = entries.map((entry, index) => {
    const payload = Buffer.from(JSON.stringify(entry));
    const frame = Buffer.alloc(48 + payload.length);
    frame.write('TGSPOOL1', 'latin1');
    frame.writeUInt32BE(index + 1, 8);
    frame.writeUInt32BE(payload.length, 12);
    payload.copy(frame, 48);
    createHash('sha256').update(frame.subarray(8, 16)).update(payload).digest().copy(frame, 16);
    return frame;
  });
  return Buffer.concat([...frames, Buffer.alloc(4_096)]);
}

/** The spool's entry for the end of a call that held `held`, as the call believed. */
function spooled(id: string, held: bigint, output: number) {
  const { record, posted, released, writtenOff } = settledCall(id, { held, output });
  const amounts = [posted, released, writtenOff].map(String);
  return ['s', ...amounts, callRecordValues(record), renderAttempts(record)];
}

/** A folder with ended calls, calls that were running, and a spool. Amounts: an output token costs 2. */
function makeOldFolder(mode: 'postpaid' | 'prepaid'): string {
  const dataDir = newFolder();
  const database = openWriteConnection(databasePath(dataDir));
  migrate(database, 1);
  database.run('BEGIN');
  const ledger = new LegacyLedger(database);
  ledger.beginEpoch();
  ledger.add({ kind: 'topup', ref: 'm', amount: 1_000n });
  for (let nth = 0; nth < 600; nth++) ledger.addCall(idOf(`done_${nth}`), 3n, 1);
  for (const id of ['exact', 'extended', 'plain', 'streaming']) ledger.openCall(idOf(id), 100n);
  database.run('UPDATE open_hold SET checkpoint = ? WHERE call_id = ?', [
    renderCheckpoint({ usage: heldUsage(15), cost: 30n }),
    idOf('streaming'),
  ]);
  // A prepaid account has nothing left for the extension.
  if (mode === 'prepaid') ledger.add({ kind: 'correct', ref: 'c', amount: 600n * 2n + 400n - 1_000n });
  ledger.finish();
  database.run('UPDATE account SET mode = ?', [mode]);
  // As the upgrade leaves records that were not rolled up.
  database.run('DROP TRIGGER call_record_keeps');
  database.run('UPDATE call_record SET block = 0');
  database.run('COMMIT');
  database.close();
  const entries = [
    ['e', idOf('extended'), 1, '80'],
    spooled(idOf('done_7'), 3n, 1),
    spooled(idOf('exact'), 100n, 40),
    spooled(idOf('extended'), 180n, 85),
    spooled(idOf('unknown'), 100n, 20),
  ];
  writeFileSync(join(dataDir, 'spool'), renderSpool(entries));
  return dataDir;
}

/** Ids sort by the time of arrival of the sample record. */
const idOf = (name: string) => `${requestIdFloor(1_790_000_000_000)}_${name}`;
const heldUsage = (output: number): CallRecord['usage'] => settledCall('a', { held: 0n, output }).record.usage;
const openWriter = (dataDir: string) =>
  openWriterDatabase({ path: databasePath(dataDir), databaseBytesMax: null, stream: null }, () => undefined);

function expectTakenOver(dataDir: string, mode: 'postpaid' | 'prepaid'): void {
  const reading = openReadConnection(databasePath(dataDir));
  const costs = reading
    .query<{ id: string; usage_source: string; cost: number }, []>(
      `SELECT request_id AS id, usage_source, cost_nano_usd AS cost FROM call_record
        WHERE request_id NOT LIKE '%done%' ORDER BY request_id`,
    )
    .all();
  expect(costs).toEqual([
    { id: idOf('exact'), usage_source: 'upstream', cost: 80 },
    { id: idOf('extended'), usage_source: 'upstream', cost: 170 },
    { id: idOf('plain'), usage_source: 'void', cost: 0 },
    { id: idOf('streaming'), usage_source: 'checkpoint', cost: 30 },
    { id: idOf('unknown'), usage_source: 'upstream', cost: 40 },
  ]);
  // Of the extended call 170, or the 100 that it held; the unknown call is written off.
  const charged = 600 * 2 + 80 + 30 + (mode === 'prepaid' ? 100 : 170);
  const writtenOff = 40 + (mode === 'prepaid' ? 70 : 0);
  const total = mode === 'prepaid' ? 1_600 : 1_000;
  expect(reading.query('SELECT * FROM account_balance').all()).toEqual([
    {
      account: 'default',
      available: total - charged,
      held: 0,
      charged,
      absorbed: writtenOff,
      topped_up: 1_000,
      absorbed_attempts: 0,
    },
  ]);
  expect(reading.query('SELECT * FROM open_hold').all()).toEqual([]);
  expect(existsSync(join(dataDir, 'spool'))).toBe(false);
  expect(existsSync(join(dataDir, 'spool.old'))).toBe(true);
  const last = reading.query<{ hash: Uint8Array }, []>('SELECT hash FROM ledger_entry ORDER BY seq DESC LIMIT 1').get();
  expect(Buffer.from(readMark(reading).head)).toEqual(Buffer.from(last?.hash ?? []));
  const question = { tenant: { account: 'default', workspaces: null }, fromMs: 0, toMs: 1.8e12, timeZone: 'UTC' };
  const cost = BigInt(charged + writtenOff);
  expect(proveUsage(reading, { ...question, timeMsMax: 30_000 })).toMatchObject({
    usage: cost,
    records: cost,
    ledger: cost,
    calls: 605,
  });
  reading.close();
  expect(proveLedger(databasePath(dataDir), recompute)).toMatchObject({ calls: 605, problem: null });
}

test.each(['postpaid', 'prepaid'] as const)('takes over spool and running calls of a %s account once', (mode) => {
  const dataDir = makeOldFolder(mode);
  const writer = openWriter(dataDir);
  expect(writer.opened).toMatchObject({
    left: [],
    recovered: { posted: 1, voided: 1 },
    spooled: 3,
    problems: [],
    end: { epoch: 0, seq: 0 },
  });
  writer.close();
  expectTakenOver(dataDir, mode);
  const again = openWriter(dataDir);
  expect(again.opened).toMatchObject({ recovered: { posted: 0, voided: 0 }, spooled: 0, problems: [] });
  again.close();
  expectTakenOver(dataDir, mode);
});

test.each(['take-over-before-commit', 'take-over-committed'])(
  'killed at %s, it is complete after the next start',
  async (point) => {
    const dataDir = makeOldFolder('postpaid');
    const program = join(import.meta.dir, '../testing/ingest-until-killed.ts');
    const env = { ...process.env, TOLLGATE_TEST_FAILPOINT: `${point}:1` };
    const child = Bun.spawn([process.execPath, program, dataDir], { env, stderr: 'inherit' });
    await child.exited;
    expect(child.signalCode).toBe('SIGKILL');
    openWriter(dataDir).close();
    expectTakenOver(dataDir, 'postpaid');
  },
);

test('a damaged spool is reported, and kept', () => {
  const dataDir = makeOldFolder('postpaid');
  const bytes = renderSpool([spooled(idOf('exact'), 100n, 40), spooled(idOf('extended'), 180n, 85)]);
  bytes[60] = 0;
  writeFileSync(join(dataDir, 'spool'), bytes);
  const writer = openWriter(dataDir);
  expect(writer.opened).toMatchObject({ spooled: 1, problems: [expect.stringContaining('the spool is damaged')] });
  writer.close();
  expect(existsSync(join(dataDir, 'spool.old'))).toBe(true);
  expect(proveLedger(databasePath(dataDir), recompute).problem).toBeNull();
});

test('a real folder of version 20 goes on: calls, movements, statements and proofs are over both', async () => {
  const dataDir = newFolder();
  unpackOldDataFolder(dataDir);
  const store = await openStore({ dataDir });
  const before = await store.ledger.readBalances('team');
  const range = { fromMs: 0, toMs: Date.now() + 60_000 };
  const old = await store.statements.readStatement('team', range, null);
  for (const id of ['one', 'two']) {
    await store.ledger.hold(heldCall(idOf(id), 100n, 'team'));
    await store.ledger.settle(settledCall(idOf(id), { held: 100n, output: 30, account: 'team' }));
  }
  const topup = { id: 'new', account: 'team', amount: 500n, note: null, at_ms: Date.now() };
  await store.ledger.topup(topup);
  await store.ledger.topup(topup);
  const [balance] = await store.ledger.readBalances('team');
  expect(balance?.available).toBe((before[0]?.available ?? 0n) + 500n - 120n);
  const statement = await store.statements.readStatement('team', range, null);
  expect(statement.opening).toBe(0n);
  expect(statement.closing).toBe((balance?.available ?? 0n) + (balance?.held ?? 0n));
  expect(statement.movements).toEqual([
    ...old.movements,
    { atMs: topup.at_ms, kind: 'topup', ref: 'new', amount: 500n, released: 0n, note: null },
  ]);
  const page = await store.statements.readEntries('team', 'all', null, 500);
  const sum = page.entries
    .filter(({ kind }) => kind === 'topup' || kind === 'correct' || kind === 'post')
    .reduce((total, { kind, amount }) => total + (kind === 'post' ? -amount : amount), 0n);
  expect([sum, page.next]).toEqual([statement.closing, null]);
  const proof = await store.usage.proveUsage({
    tenant: { account: 'team', workspaces: null },
    fromMs: 0,
    toMs: 1.8e12,
    timeZone: 'UTC',
    timeMsMax: 30_000,
  });
  expect(proof.ledger).toBe(proof.records - proof.beforeLedger);
  expect(proof.usage).toBe(proof.records);
  await store.close();
  const price = (usage: CallRecord['usage'], version: string) =>
    chargedNanoUsd(usage, parsePriceVersion(version), parsePriceVersion);
  expect(proveLedger(databasePath(dataDir), price)).toMatchObject({ problem: null });
});
