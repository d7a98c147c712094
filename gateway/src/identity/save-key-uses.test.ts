/** Tests when keys were last used, from memory to disk and back, over a real store. */
import { expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import type { StoredKey } from '../store/ports/records.ts';
import type { Store } from '../store/ports/store.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { createKeyDirectory, putKey } from './key-directory.ts';
import { createKeyHasher } from './key-format.ts';
import { restoreKeyUses, saveKeyUses } from './save-key-uses.ts';

const newFolder = temporaryFolders();
const KEY: StoredKey = {
  id: 'key_1',
  name: 'n',
  accountId: 'default',
  workspaceId: 'default',
  hash: 'aa',
  last4: 'last',
  previousHash: 'bb',
  previousExpiresAtMs: 9_000_000_000_000,
  previousLast4: 'prev',
  models: null,
  ips: null,
  scopes: ['inference'],
  strict: false,
  holds: null,
  status: 'active',
  createdAtMs: 1,
  expiresAtMs: null,
  createdBy: null,
  disabledBy: null,
};

async function directoryOf(store: Store) {
  const [accounts, workspaces, keys] = await Promise.all([
    store.policies.readAccounts(),
    store.policies.readWorkspaces(),
    store.policies.readKeys(),
  ]);
  return createKeyDirectory(createKeyHasher(new Secret('5a'.repeat(32))), { accounts, workspaces, keys });
}

test('the use of each secret survives a restart, and stored use is not written again', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.policies.save([{ of: 'key', isNew: true, key: KEY }]);
  const before = await directoryOf(store);
  const useOf = (directory: typeof before, hash: string) => directory.byHash.get(hash)?.use;
  Object.assign(useOf(before, 'aa') ?? {}, { atMs: 7_000, client: 'codex/1' });
  Object.assign(useOf(before, 'bb') ?? {}, { atMs: 5_000, client: null });
  let writes = 0;
  const counted = {
    ...store.keyUses,
    save: (uses: Parameters<typeof store.keyUses.save>[0]) => {
      writes += uses.length;
      return store.keyUses.save(uses);
    },
  };
  await saveKeyUses(before, counted);
  await saveKeyUses(before, counted);
  expect(writes).toBe(2);
  const after = await directoryOf(store);
  await restoreKeyUses(after, store.keyUses);
  expect(useOf(after, 'aa')).toEqual({ atMs: 7_000, client: 'codex/1', keptAtMs: 7_000 });
  expect(useOf(after, 'bb')).toEqual({ atMs: 5_000, client: null, keptAtMs: 5_000 });
  // The system clock was set back.
  Object.assign(useOf(after, 'bb') ?? {}, { atMs: 4_000 });
  await saveKeyUses(after, store.keyUses);
  expect((await store.keyUses.read()).find(({ hash }) => hash === 'bb')?.atMs).toBe(4_000);
  // A secret that is no longer valid is forgotten with the next write.
  await store.policies.save([{ of: 'key', isNew: false, key: { ...KEY, previousHash: null } }]);
  putKey(after, { ...KEY, previousHash: null });
  Object.assign(useOf(after, 'aa') ?? {}, { atMs: 8_000 });
  await saveKeyUses(after, store.keyUses);
  expect((await store.keyUses.read()).map(({ hash, atMs }) => [hash, atMs])).toEqual([['aa', 8_000]]);
  await store.close();
});

test('use that a killed process did not store is read from its records', async () => {
  const store = await openStore({ dataDir: newFolder() });
  await store.policies.save([{ of: 'key', isNew: true, key: KEY }]);
  const atMs = Date.UTC(2026, 10, 20);
  const requestId = `req_${Bun.randomUUIDv7('hex', atMs).replaceAll('-', '')}`;
  await store.ledger.append(sampleRecord(requestId, { at_ms: atMs, cost_nano_usd: '0' }));
  const directory = await directoryOf(store);
  await restoreKeyUses(directory, store.keyUses);
  expect(directory.byHash.get('aa')?.use).toMatchObject({ atMs, client: null });
  expect(directory.byHash.get('bb')?.use.atMs).toBe(Number.NEGATIVE_INFINITY);
  await store.close();
});
