/** Tests the report of an account's own money: the current state of its budget, and a prepaid balance. */
import { afterEach, expect, test } from 'bun:test';
import { createChangeFeed } from '../store/memory/change-feed.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { heldCall, settledCall } from '../store/testing/sample-call.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { accountMoney } from './open-console.ts';
import { openMoney } from './open-money.ts';

const newFolder = temporaryFolders();
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

test('the budget of the account itself, settled and held, and its balance', async () => {
  const account: StoredAccount = {
    id: 'team',
    name: 'The team',
    mode: 'prepaid',
    markUpPpm: 0,
    timeZone: 'UTC',
    holds: null,
    createdAtMs: 1,
  };
  const store = await openStore({ dataDir: newFolder() });
  closers.push(() => store.close());
  const caps = {
    requestsPerMinute: null,
    tokensPerMinute: null,
    concurrency: null,
    budget: { window: 'total', amount: 50n },
  } as const;
  await store.policies.save([
    { of: 'account', isNew: true, account },
    { of: 'rule', subject: { kind: 'account', id: 'team' }, caps },
  ]);
  await store.ledger.topup({ id: 'mov_1', account: 'team', amount: 100n, note: null, at_ms: 1 });
  await store.ledger.hold(heldCall('req_1', 30n, 'team'));
  await store.ledger.settle(settledCall('req_1', { held: 30n, output: 10, account: 'team' }));
  // A first read waits for the tables; the reads of money then have their 250 ms for themselves.
  await store.ledger.readBalances('team');
  const directory = { accounts: new Map([[account.id, account]]), keys: new Map(), workspaces: new Map() };
  const log = { warn: () => undefined, error: () => undefined } as unknown as Parameters<typeof openMoney>[0]['log'];
  const money = await openMoney({
    store,
    directory,
    changes: createChangeFeed(),
    log,
    callMsMax: 1_000,
    namesOfModel: (model) => [model],
  });
  closers.push(() => money.close());
  const { readBudget, readBalance } = accountMoney(money.billing, directory, Date.now);
  expect(await readBudget('team')).toEqual({ window: 'total', limit: 50n, used: 20n, held: 0n });
  expect(await readBudget('default')).toBeNull();
  expect([await readBalance('team'), await readBalance('default')]).toEqual([80n, null]);
});
