/** Tests the caps of keys, workspaces, accounts, end users and models: what commands store, apply, show and refuse. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { bothSides, type ControlRig, createControlRig } from './testing/control-rig.ts';

let rig: ControlRig;
beforeEach(() => {
  rig = createControlRig();
});

afterEach(() => {
  const [bound, kept] = bothSides(rig);
  expect(bound).toEqual(kept);
});

const ALL = { rpm: 60, tpm: 100_000, concurrency: 3, budget_usd: '12.5', budget_window: 'day' };
const SHOWN = { rpm: 60, tpm: 100_000, concurrency: 3, budget_nano_usd: '12500000000', budget_window: 'day' };
const KEPT = {
  requestsPerMinute: 60,
  tokensPerMinute: 100_000,
  concurrency: 3,
  budget: { window: 'day', amount: 12_500_000_000n },
};
const NONE = { rpm: null, tpm: null, concurrency: null, budget_nano_usd: null, budget_window: null };

describe('the caps of a key', () => {
  test('are stored with the key, apply from its first request, and are shown with it', async () => {
    const created = await rig.run('keys.create', { name: 'n', ...ALL });
    expect(created).toMatchObject(SHOWN);
    expect(rig.inForce).toEqual(new Map([[`key:${created.id}`, KEPT]]) as typeof rig.inForce);
    expect(await rig.run('keys.list')).toMatchObject([{ id: created.id, ...SHOWN }]);
    expect(await rig.run('keys.rotate', { id: created.id, grace_ms: 0 })).toMatchObject(SHOWN);
    expect(await rig.run('keys.disable', { id: created.id })).toMatchObject(SHOWN);
  });

  test('change one by one; null removes one, and without the last there is no rule', async () => {
    const { id } = await rig.run('keys.create', { name: 'n' });
    expect(rig.disk.rules.size).toBe(0);
    expect(await rig.run('keys.set', { id, rpm: 2 })).toMatchObject({ ...NONE, rpm: 2 });
    expect(await rig.run('keys.set', { id, budget_usd: '1' })).toMatchObject({
      rpm: 2,
      budget_nano_usd: '1000000000',
      budget_window: 'total',
    });
    expect(await rig.run('keys.set', { id, budget_window: 'week' })).toMatchObject({ budget_window: 'week' });
    expect(await rig.run('keys.set', { id, budget_usd: '0' })).toMatchObject({
      budget_nano_usd: '0',
      budget_window: 'week',
    });
    expect(await rig.run('keys.set', { id, budget_usd: null })).toMatchObject({ ...NONE, rpm: 2 });
    expect(await rig.run('keys.set', { id, rpm: null })).toMatchObject(NONE);
    expect([rig.disk.rules.size, rig.inForce.size]).toEqual([0, 0]);
    expect(await rig.run('keys.set', { id, rpm: null })).toMatchObject(NONE);
  });

  test('are not touched by other changes: a budget keeps its known spend', async () => {
    const { id } = await rig.run('keys.create', { name: 'n', ...ALL });
    await rig.run('keys.set', { id, name: 'other' });
    await rig.run('keys.set', { id, ...ALL });
    await rig.run('keys.disable', { id });
    await rig.run('workspaces.set', { id: 'default', rpm: null });
    expect(rig.putRules).toEqual([`key:${id}`]);
  });

  test('caps and key are not created if the disk fails', async () => {
    rig.disk.full = true;
    await expect(rig.control.run('keys.create', { name: 'n', rpm: 1 }, rig.by)).rejects.toThrow('the disk is full');
    expect([rig.directory.keys.size, rig.inForce.size]).toEqual([0, 0]);
  });

  test.each([
    [{ rpm: 0 }, 'rpm: expected a whole number from 1 to 1000000000, or none'],
    [{ rpm: '5' }, 'rpm: expected a whole number'],
    [{ tpm: 1.5 }, 'tpm: expected a whole number'],
    [{ tpm: 1_000_000_001 }, 'tpm: expected a whole number from 1 to 1000000000'],
    [{ concurrency: 1_000_001 }, 'concurrency: expected a whole number from 1 to 1000000, or none'],
    [{ budget_usd: 5 }, 'budget_usd: '],
    [{ budget_usd: '-5' }, 'budget_usd: found "-5", expected a decimal number of USD'],
    [{ budget_usd: '0.0000000001' }, 'budget_usd: found "0.0000000001", expected at most 9 decimal places'],
    [
      { budget_usd: '5', budget_window: 'year' },
      'budget_window: found "year", expected one of day, week, month, total',
    ],
    [{ budget_window: 'day' }, 'budget_window: found day without a budget'],
    [{ budget_usd: null, budget_window: 'day' }, 'budget_window: found day without a budget'],
  ])('refuses %p as wrong usage', async (given, message) => {
    const { kind, message: refusalText } = await rig.refusal('keys.create', { name: 'n', ...given });
    expect([kind, refusalText]).toEqual(['usage', expect.stringContaining(message)]);
  });
});

describe('the caps of a workspace and of an account', () => {
  test('are set at creation and later, without other settings', async () => {
    await rig.run('accounts.create', { id: 'payer', rpm: 9 });
    expect(await rig.run('workspaces.create', { id: 'team', account: 'payer', models: ['a'], ...ALL })).toMatchObject({
      account: 'payer',
      ...SHOWN,
    });
    expect(await rig.run('workspaces.set', { id: 'team', rpm: null })).toMatchObject({
      ...SHOWN,
      rpm: null,
      models: ['a'],
    });
    expect(await rig.run('accounts.set', { id: 'payer', ...ALL })).toMatchObject({ mode: 'postpaid', ...SHOWN });
    expect([...rig.inForce.keys()].sort()).toEqual(['account:payer', 'workspace:team']);
    const { key } = await rig.run('keys.create', { name: 'n', workspace: 'team' });
    expect(rig.knock(key)).toStartWith('key_');
    expect(await rig.run('keys.list')).toMatchObject([{ account: 'payer', ...NONE }]);
  });
});

describe('limits.set', () => {
  test('limits an account, a workspace, an end user, all end users, and a model', async () => {
    await rig.run('accounts.create', { id: 'payer' });
    for (const [given, place, shown] of [
      [{ account: 'payer' }, 'account:payer', { kind: 'account', id: 'payer', account: null }],
      [{ workspace: 'default' }, 'workspace:default', { kind: 'workspace', id: 'default', account: null }],
      [{ end_user: 'a/b' }, 'end_user:default/a/b', { kind: 'end_user', id: 'a/b', account: 'default' }],
      [{ account: 'payer', end_user: '*' }, 'end_user:payer/*', { kind: 'end_user', id: '*', account: 'payer' }],
      [{ model: 'lab/qwen:32b' }, 'model:lab/qwen:32b', { kind: 'model', id: 'lab/qwen:32b', account: null }],
    ] as const) {
      expect(await rig.run('limits.set', { ...given, ...ALL })).toEqual({ ...shown, layer: 'operator', ...SHOWN });
      expect(rig.inForce.get(place)).toEqual(KEPT as never);
      expect(await rig.run('limits.list')).toContainEqual({
        ...shown,
        layer: 'operator',
        ...SHOWN,
        binds: true,
      });
      expect(await rig.run('limits.set', { ...given, rpm: null, tpm: null })).toMatchObject({ ...shown, rpm: null });
      expect(await rig.run('limits.set', { ...given, concurrency: null, budget_usd: null })).toMatchObject(NONE);
      expect(rig.inForce.has(place)).toBe(false);
    }
    expect(await rig.run('limits.list')).toEqual([] as never);
  });

  test('refuses a model that is not served, with the nearest name; an existing rule can be changed and removed', async () => {
    for (const [model, words] of [
      ['lab/qwen:23b', 'There is no model called "lab/qwen:23b" here. Did you mean "lab/qwen:32b"?'],
      ['gone', 'There is no model called "gone" here. Name a served model'],
    ] as const) {
      const refused = await rig.refusal('limits.set', { model, rpm: 1 });
      expect([refused.kind, refused.message]).toEqual(['failed', expect.stringContaining(words)]);
    }
    await rig.run('limits.set', { model: 'm', rpm: 1 });
    rig.models = [];
    expect(await rig.run('limits.list')).toMatchObject([{ kind: 'model', id: 'm', binds: false }]);
    await rig.run('limits.set', { model: 'm', rpm: 2 });
    await rig.run('limits.set', { model: 'm', rpm: null });
    expect(rig.inForce.size).toBe(0);
  });

  test('changes the same rule as the commands of its subject', async () => {
    await rig.run('limits.set', { workspace: 'default', rpm: 5 });
    expect(await rig.run('workspaces.set', { id: 'default', tpm: 7 })).toMatchObject({ rpm: 5, tpm: 7 });
    const { id } = await rig.run('keys.create', { name: 'n', rpm: 1 });
    expect(await rig.run('limits.list')).toMatchObject([
      { kind: 'workspace', id: 'default', rpm: 5, tpm: 7 },
      { kind: 'key', id, rpm: 1 },
    ]);
  });

  test.each([
    [{ account: 'default' }, 'usage', 'nothing to change; expected at least one of rpm'],
    [{ rpm: 1 }, 'usage', 'expected exactly one of account, workspace, end_user and model'],
    [{ rpm: 1, account: 'default', workspace: 'default' }, 'usage', 'expected exactly one of'],
    [{ rpm: 1, account: 'default', model: 'm' }, 'usage', 'expected exactly one of'],
    [{ rpm: 1, end_user: 'u', model: 'm' }, 'usage', 'expected exactly one of'],
    [{ rpm: 1, key: 'key_1' }, 'usage', 'key'],
    [{ rpm: 1, model: 'a\u0007' }, 'usage', 'model: found "a\\u0007"'],
    [{ rpm: 1, end_user: 'x'.repeat(513) }, 'usage', 'end_user: '],
    [{ rpm: 1, account: 'gone' }, 'failed', 'There is no account with the id "gone"'],
    [{ rpm: 1, account: 'gone', end_user: 'u' }, 'failed', 'There is no account with the id "gone"'],
    [{ rpm: 1, workspace: 'gone' }, 'failed', 'There is no workspace with the id "gone"'],
  ])('refuses %p', async (given, kind, message) => {
    const refused = await rig.refusal('limits.set', given);
    expect([refused.kind, refused.message]).toEqual([kind, expect.stringContaining(message)]);
    expect(rig.inForce.size).toBe(0);
  });
});
