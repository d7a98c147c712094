/** Tests the limit on the conversations of one account, with a small one. */
import { expect, test } from 'bun:test';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { createQueries } from '../database/sqlite-dialect.ts';
import { startWriter } from '../writer/writer.ts';
import { createStoredStateStore } from './stored-state-store.ts';

const newFolder = temporaryFolders();
const WRITER_PROGRAM = new URL('../writer/writer-worker.ts', import.meta.url);

test('an account keeps conversations up to its limit, whatever the others keep', async () => {
  const path = databasePath(newFolder());
  const writer = await startWriter({
    path,
    databaseBytesMax: null,
    onChange: () => undefined,
    program: WRITER_PROGRAM,
  });
  const reading = openReadConnection(path);
  const store = createStoredStateStore(createQueries(reading), writer, 10);
  const keep = (account: string, requestId: string, bytes: number) =>
    store.keep({ account, workspace: 'w' }, requestId, new Uint8Array(bytes), 1_000);
  expect(await keep('one', 'req_1', 6)).toBe('kept');
  expect(await keep('one', 'req_2', 5)).toBe('no_room');
  expect(await keep('one', 'req_3', 4)).toBe('kept');
  expect(await keep('two', 'req_4', 10)).toBe('kept');
  expect(await keep('two', 'req_5', 11)).toBe('no_room');
  await store.forget({ account: 'one', workspace: 'w' }, 'req_1');
  expect(await keep('one', 'req_6', 6)).toBe('kept');
  reading.close();
  await writer.close();
});
