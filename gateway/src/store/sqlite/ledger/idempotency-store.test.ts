/** Tests SQLite's store of idempotent runs with the port's suite. */
import { expect, test } from 'bun:test';
import { idempotencyContract, type OpenedIdempotencyStore } from '../../contracts/idempotency-contract.ts';
import type { RunName } from '../../ports/idempotency.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { createQueries } from '../database/sqlite-dialect.ts';
import { startWriter } from '../writer/writer.ts';
import { createIdempotencyStore } from './idempotency-store.ts';

const newFolder = temporaryFolders();
const WRITER_PROGRAM = new URL('../writer/writer-worker.ts', import.meta.url);

async function open(dataDir: string, shareBytesMax: number): Promise<OpenedIdempotencyStore> {
  const path = databasePath(dataDir);
  const writer = await startWriter({
    path,
    databaseBytesMax: null,
    onChange: () => undefined,
    program: WRITER_PROGRAM,
  });
  const reading = openReadConnection(path);
  const close = async () => {
    reading.close();
    await writer.close();
  };
  return {
    store: createIdempotencyStore(createQueries(reading), writer, shareBytesMax),
    close,
    async reopen() {
      await close();
      return open(dataDir, shareBytesMax);
    },
  };
}

idempotencyContract('SQLite', (shareBytesMax) => open(newFolder(), shareBytesMax));

test('an answer of megabytes is stored and read back unchanged', async () => {
  const { store, close } = await open(newFolder(), 100_000_000);
  const run: RunName = { keyId: 'k', nameHash: 'a', bodyHash: 'b', callId: 'req_1' };
  const sealed = Buffer.from(new Uint32Array(2 ** 21).map((_, at) => at * 2_654_435_761).buffer);
  await store.begin(run, 1);
  expect(await store.keep(run, sealed)).toBe('kept');
  const met = await store.begin({ ...run, callId: 'req_2' }, 2);
  if (met.kind !== 'replay') throw new Error(`met ${met.kind}`);
  expect(Buffer.from(met.sealed).equals(sealed)).toBe(true);
  await close();
});
