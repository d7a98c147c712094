/** Tests the upgrade of a folder that the previous version wrote: nothing is missing, its proof holds, and it serves on. */
import { expect, test } from 'bun:test';
import { parsePriceVersion } from '../../../billing/price.ts';
import { chargedNanoUsd } from '../../../billing/price-book.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { createContentStore } from '../content/content-store.ts';
import { databasePath } from '../database/connection.ts';
import { loadMasterKey } from '../database/master-key.ts';
import { openStore } from '../open-store.ts';
import { proveLedger } from '../prove/prove-ledger.ts';
import { unpackPreviousDataFolder } from './testing/old-data-folder.ts';

const newFolder = temporaryFolders();

const recompute = (usage: Parameters<typeof chargedNanoUsd>[0], version: string) =>
  chargedNanoUsd(usage, parsePriceVersion(version), parsePriceVersion);

test('keys, money, requests, prompts, people and alerts are complete, and the stream that was cut is charged', async () => {
  const dataDir = newFolder();
  unpackPreviousDataFolder(dataDir);
  const { key } = loadMasterKey(dataDir);
  const store = await openStore({ dataDir });
  // The stream that was running had a checkpoint.
  expect(store.recovered).toEqual({ posted: 1, voided: 0 });

  const calls = await store.calls.readCalls({ limit: 100, sinceMs: null, requestId: null, keyId: null });
  expect(calls.map(({ status, error }) => `${status} ${error}`).sort()).toEqual(
    [
      ...Array.from({ length: 6 }, () => '200 null'),
      '200 gateway_crashed',
      '400 invalid_request',
      '403 model_unknown',
    ].sort(),
  );
  expect(calls.find(({ error }) => error === 'model_unknown')?.reason).toMatchObject({ kind: 'model_not_allowed' });

  const keys = await store.policies.readKeys();
  expect(keys.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'ci active',
    'first key active',
    'gone revoked',
    'team active',
  ]);
  const accounts = await store.policies.readAccounts();
  expect(accounts.map(({ id, mode }) => `${id} ${mode}`)).toEqual(['default postpaid', 'team prepaid']);
  const balances = new Map((await store.ledger.readBalances()).map((one) => [one.account, one]));
  const spent = calls
    .filter(({ account }) => account === 'team')
    .reduce((sum, one) => sum + BigInt(one.cost_nano_usd ?? 0), 0n);
  expect(spent).toBeGreaterThan(0n);
  expect(balances.get('team')).toMatchObject({ held: 0n, available: 2_500_000_000n - spent });
  // A statement is refused where it is not what the ledger charged.
  const { charges, closing } = await store.statements.readStatement('team', { fromMs: 0, toMs: Date.now() }, 'UTC');
  expect([charges.reduce((sum, { amount }) => sum + amount, 0n), closing]).toEqual([spent, 2_500_000_000n - spent]);

  const people = await store.people.find('person', { where: [] });
  expect(people.map(({ email }) => email)).toEqual(['ada@example.com']);
  expect(await store.alerts.readRules()).toMatchObject([
    {
      account: 'default',
      name: 'Budget 80%',
      event: 'budget',
      threshold: 80n,
      channel: 'slack',
      receiver: 'https://hooks.example',
    },
  ]);
  const content = createContentStore(dataDir, key, () => 1e9);
  const stored = await Promise.all(calls.map(({ account, request_id }) => content.read(account, request_id)));
  expect(stored.filter((each) => each !== null).length).toBe(5);
  await content.close();
  await store.close();
  expect(proveLedger(databasePath(dataDir), recompute)).toMatchObject({ calls: 7, problem: null });
});
