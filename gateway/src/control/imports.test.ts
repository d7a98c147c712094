/** Tests the import of another gateway's objects: ids, limits, spend, audit, and that it can be repeated. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { authenticate } from '../identity/principal.ts';
import { bothSides, type ControlRig, createControlRig } from './testing/control-rig.ts';

let rig: ControlRig;
beforeEach(() => {
  rig = createControlRig();
});
afterEach(() => {
  const [bound, kept] = bothSides(rig);
  expect(bound).toEqual(kept);
});

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');
const common = {
  digest: sha256('digest'),
  spent_usd: '2.5',
  spent_window: 'month',
  created_at: '2026-01-01T00:00:00.000Z',
};
const account = { ...common, foreign_id: 'org', id: 'acme', name: 'Acme', time_zone: 'Europe/Berlin' };
const workspace = {
  ...common,
  foreign_id: 'team',
  id: 'red',
  account: { foreign_id: 'org', id: 'acme' },
  models: ['m'],
  budget_usd: '10',
  budget_window: 'month',
};
const key = {
  ...common,
  foreign_id: sha256('sk-old'),
  name: 'old key',
  last4: '-old',
  workspace: { foreign_id: 'team', id: 'red' },
  models: null,
  status: 'active',
  expires_at: null,
  previous: { sha256: sha256('sk-older'), until: '2100-01-01T00:00:00.000Z' },
  rpm: 60,
};
const everything = { accounts: [account], workspaces: [workspace], keys: [key] };
const apply = (given: object, dry_run = false) =>
  rig.run('imports.apply', { source: 'litellm', dry_run, ...given }) as Promise<unknown>;

test('imports accounts, workspaces and keys in one run, with limits, spend and audit entries', async () => {
  expect(await apply(everything)).toMatchObject([
    { kind: 'account', id: 'acme', outcome: 'created' },
    { kind: 'workspace', id: 'red', outcome: 'created' },
    { kind: 'key', name: 'old key', outcome: 'created' },
  ]);
  for (const text of ['sk-old', 'sk-older']) {
    expect(authenticate(rig.directory, text, rig.nowMs)).toMatchObject({
      keyName: 'old key',
      accountId: 'acme',
      workspaceId: 'red',
    });
  }
  expect(rig.disk.rules.get('workspace:red')?.caps.budget).toEqual({ window: 'month', amount: 10_000_000_000n });
  expect([...rig.disk.imports.values()].map(({ spent }) => spent)).toEqual([
    2_500_000_000n,
    2_500_000_000n,
    2_500_000_000n,
  ]);
  expect(
    rig.disk.entries.map(({ act, subject, after }) => [act, subject.kind, after?.imported_spend_nano_usd]),
  ).toEqual([
    ['imports.apply', 'account', '2500000000'],
    ['imports.apply', 'workspace', '2500000000'],
    ['imports.apply', 'key', '2500000000'],
  ]);
});

test('a second run changes nothing; a later one follows the spend only, and names what changed there', async () => {
  await apply(everything);
  const kept = [rig.disk.entries.length, rig.disk.imports.size];
  const again = (await apply(everything)) as readonly { readonly outcome: string }[];
  expect(again.map(({ outcome }) => outcome)).toEqual(['unchanged', 'unchanged', 'unchanged']);
  expect([rig.disk.entries.length, rig.disk.imports.size]).toEqual(kept);
  await rig.run('limits.set', { workspace: 'red', budget_usd: '99' });
  const later = { ...workspace, spent_usd: '3', budget_usd: '50', digest: sha256('other') };
  expect(await apply({ workspaces: [later] })).toMatchObject([{ outcome: 'spend_updated', note: expect.any(String) }]);
  expect(rig.disk.rules.get('workspace:red')?.caps.budget?.amount).toBe(99_000_000_000n);
  expect(await apply({ workspaces: [later] })).toMatchObject([{ outcome: 'differs' }]);
});

test('a dry run says the same and keeps nothing', async () => {
  const dry = (await apply(everything, true)) as readonly { readonly outcome: string }[];
  expect(dry.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
  expect([rig.disk.keys.size, rig.disk.imports.size, rig.disk.entries.length]).toEqual([0, 0, 0]);
});

test('a name that is taken here gets a suffix, and later keys find the workspace by its id there', async () => {
  await rig.run('workspaces.create', { id: 'red' });
  expect(await apply({ accounts: [account], workspaces: [workspace] })).toMatchObject([{}, { id: 'red-litellm' }]);
  await apply({ keys: [key] });
  expect(authenticate(rig.directory, 'sk-old', rig.nowMs)).toMatchObject({
    workspaceId: 'red-litellm',
  });
});

test('a key of a workspace that was not imported is refused, and nothing is kept', async () => {
  const refused = await rig.refusal('imports.apply', { source: 'litellm', dry_run: false, keys: [key] });
  expect(refused.message).toContain('was not imported');
  expect(rig.disk.keys.size).toBe(0);
});

test('end users get limits in their account; the account default keeps the limits that it has', async () => {
  await rig.run('limits.set', { account: 'default', budget_usd: '7' });
  const proxy = { ...account, foreign_id: 'proxy', id: 'default', budget_usd: '1', budget_window: 'month' };
  const { created_at: _, ...shape } = common;
  const user = { ...shape, foreign_id: 'u', id: 'u', account: { foreign_id: null, id: 'default' }, rpm: 5 };
  expect(await apply({ accounts: [proxy], end_users: [user] })).toMatchObject([
    { id: 'default', note: 'its limits here were kept' },
    { kind: 'end_user', id: 'default/u' },
  ]);
  expect(rig.disk.rules.get('account:default')?.caps.budget?.amount).toBe(7_000_000_000n);
  expect(rig.disk.rules.get('end_user:default/u')?.caps.requestsPerMinute).toBe(5);
});
