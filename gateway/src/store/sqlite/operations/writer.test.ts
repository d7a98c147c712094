/**
 * Tests which operations go to the writer thread together: an operation that no caller awaits does not wake the writer,
 * and is still stored.
 */
import { afterEach, expect, test } from 'bun:test';
import { keepAbandonment } from './ledger-operations.ts';
import { startWriter, type Writer } from './writer.ts';

const PROGRAM = new URL('../testing/counting-writer.ts', import.meta.url);
const started: Writer[] = [];

async function start(): Promise<Writer> {
  const place = { path: 'nowhere', databaseBytesMax: null, onChange: () => undefined, program: PROGRAM };
  const writer = await startWriter(place);
  started.push(writer);
  return writer;
}

afterEach(async () => {
  for (const writer of started.splice(0)) await writer.close();
});

const operation = keepAbandonment('req_1');
/** The number of the batch that the operation came in. */
const batchOf = (kept: Promise<void>) => kept.then(String, (failure: Error) => failure.message);
const laterTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('what somebody waits for wakes an idle writer in the same turn', async () => {
  const writer = await start();
  const first = batchOf(writer.keep(operation));
  await laterTurn();
  await laterTurn();
  const second = batchOf(writer.keep(operation));
  expect([await first, await second]).toEqual(['batch 1', 'batch 2']);
});

test('what nobody waits for goes with what somebody does, turns later', async () => {
  const writer = await start();
  const first = batchOf(writer.keepUnhurried(operation));
  await laterTurn();
  await laterTurn();
  const second = batchOf(writer.keep(operation));
  expect([await first, await second]).toEqual(['batch 1', 'batch 1']);
});

test('alone it goes by itself, and so does what comes behind a batch that is under way', async () => {
  const writer = await start();
  const hurried = batchOf(writer.keep(operation));
  await laterTurn();
  await laterTurn();
  const behind = batchOf(writer.keepUnhurried(operation));
  expect([await hurried, await behind]).toEqual(['batch 1', 'batch 2']);
});

test('a writer that closes sends what waits', async () => {
  const writer = await start();
  const kept = batchOf(writer.keepUnhurried(operation));
  await writer.close();
  expect(await kept).toBe('batch 1');
  await expect(writer.keepUnhurried(operation)).rejects.toMatchObject({ kind: 'closed' });
});
