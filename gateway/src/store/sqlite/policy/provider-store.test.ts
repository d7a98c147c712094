/** Tests that providers, tests and prices are stored as entered, and what the tables refuse. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { StoredPrice, StoredProvider, StoredProviderTest } from '../../ports/providers.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { databasePath } from '../database/connection.ts';
import { openStore } from '../open-store.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';

const newFolder = temporaryFolders();

async function kindOf(kept: Promise<void>): Promise<string> {
  try {
    await kept;
    return 'kept';
  } catch (fault) {
    if (fault instanceof StoreError) return fault.kind;
    throw fault;
  }
}

const PROVIDER: StoredProvider = {
  name: 'lab',
  kind: 'openai-compatible',
  baseUrl: 'https://api.example.com/v1',
  models: [{ name: 'a', upstream: 'b' }],
  sealed: 'AAAA',
  last4: 'wxyz',
  createdAtMs: 5,
  updatedAtMs: 5,
};
const TESTED: StoredProviderTest = {
  provider: 'lab',
  origin: 'https://api.example.com',
  atMs: 7,
  ok: false,
  message: 'no',
  durationMs: 1.5,
};
const PRICE: StoredPrice = {
  model: 'a',
  fromMs: 9,
  rates: { input: '1', output: '2' },
  createdBy: 'person:1',
  createdAtMs: 8,
};

test('what was entered is there after the store was opened again', async () => {
  const dataDir = newFolder();
  const first = await openStore({ dataDir });
  const open = { ...PROVIDER, name: 'open', sealed: null, last4: null, models: [], createdAtMs: 4 };
  await first.providers.keepProvider(PROVIDER, true);
  await first.providers.keepProvider(open, true);
  await first.providers.keepTest(TESTED);
  await first.providers.keepTest({ ...TESTED, ok: true });
  await first.providers.addPrice(PRICE);
  await first.providers.addPrice({ ...PRICE, rates: null });
  await first.close();
  const { providers, close } = await openStore({ dataDir });
  expect(await providers.readProviders()).toEqual([open, PROVIDER]);
  expect(await providers.readTests()).toEqual([{ ...TESTED, ok: true }]);
  expect(await providers.readPrices()).toEqual([PRICE, { ...PRICE, rates: null }]);
  await providers.keepProvider({ ...PROVIDER, sealed: 'BBBB', updatedAtMs: 6, createdAtMs: 99 }, false);
  await providers.removeProvider('open');
  expect(await providers.readProviders()).toEqual([{ ...PROVIDER, sealed: 'BBBB', updatedAtMs: 6 }]);
  await close();
});

test('a name that is taken, and one that is not there, are refused', async () => {
  const { providers, close } = await openStore({ dataDir: newFolder() });
  await providers.keepProvider(PROVIDER, true);
  expect(await kindOf(providers.keepProvider(PROVIDER, true))).toBe('conflict');
  expect(await kindOf(providers.keepProvider({ ...PROVIDER, name: 'x' }, false))).toBe('conflict');
  expect(await kindOf(providers.removeProvider('x'))).toBe('conflict');
  await close();
});

test('a price that was set neither changes nor goes', async () => {
  const dataDir = newFolder();
  const { providers, close } = await openStore({ dataDir });
  await providers.addPrice(PRICE);
  await close();
  const database = new Database(databasePath(dataDir));
  expect(() => database.run("UPDATE model_price SET rates = '{}'")).toThrow('never changes');
  expect(() => database.run('DELETE FROM model_price')).toThrow('never deleted');
  database.close();
});
