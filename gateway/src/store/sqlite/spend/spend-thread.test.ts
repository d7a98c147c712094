/** Tests that every query about spending gets an answer, even if the reading thread dies or the store is closed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { heldCall, settledCall } from '../../contracts/sample-call.ts';
import type { Store } from '../../ports/store.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath } from '../database/connection.ts';
import { openStore } from '../open-store.ts';
import { createSpendThread } from './spend-thread.ts';

const newFolder = temporaryFolders();
const folder = newFolder();
const DYING = new URL('../testing/dying-spend-reader.ts', import.meta.url);
const READING = new URL('./spend-worker.ts', import.meta.url);

let store: Store;
beforeAll(async () => {
  store = await openStore({ dataDir: folder });
  await store.ledger.hold(heldCall('req_1', 30n));
  await store.ledger.settle(settledCall('req_1', { held: 30n, output: 10, changes: { key_id: 'k' } }));
});
afterAll(() => store.close());

const key = (id: string) => ({ kind: 'key', names: [id], startMs: 0, endMs: null, exceptCalls: [] }) as const;
const kindOf = (asked: Promise<bigint>) => asked.catch((fault: { kind?: string }) => fault.kind);

test.each(['exit', 'throw'])(
  'a thread that dies (%s) fails what it was asked, and the next question starts another',
  async (death) => {
    const thread = createSpendThread(databasePath(folder), DYING);
    const doomed = kindOf(thread.ask(key(death)));
    const behind = thread.ask(key('k'));
    expect(await doomed).toBe('failed');
    expect(await behind).toBe(20n);
    expect(await kindOf(thread.ask(key(death)))).toBe('failed');
    expect(await thread.ask(key('k'))).toBe(20n);
    thread.close();
  },
);

test('what is asked while it reads is asked together', async () => {
  const thread = createSpendThread(databasePath(folder), DYING);
  const first = thread.ask(key('k'));
  const together = [key('exit'), key('k')].map((question) => kindOf(thread.ask(question)));
  expect(await first).toBe(20n);
  expect(await Promise.all(together)).toEqual(['failed', 'failed']);
  thread.close();
});

test('a file that cannot be read fails the question in the words of the store', async () => {
  const thread = createSpendThread(databasePath(newFolder()), READING);
  expect(await kindOf(thread.ask(key('k')))).toBe('failed');
  thread.close();
});

test('what is asked when the store closes, or behind that, is told so', async () => {
  const thread = createSpendThread(databasePath(folder), READING);
  const asked = [key('k'), key('k')].map((question) => kindOf(thread.ask(question)));
  thread.close();
  expect(await Promise.all([...asked, kindOf(thread.ask(key('k')))])).toEqual(['closed', 'closed', 'closed']);
});
