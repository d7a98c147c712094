/** Tests the audit entries of the commands, over a disk in memory. */
import { describe, expect, test } from 'bun:test';
import type { CommandOrigin } from './command.ts';
import { createControlRig } from './testing/control-rig.ts';

const ANA: CommandOrigin = {
  actor: { kind: 'person', id: 'per_1', name: 'Ana' },
  address: '192.0.2.7',
  authority: 'account',
};

describe('the audit trail of commands', () => {
  test('a new key’s entry has all its members, the actor and the address', async () => {
    const rig = createControlRig();
    rig.by = ANA;
    const { id } = await rig.run('keys.create', { name: 'n', rpm: 5, budget_usd: '2', budget_window: 'day' });
    expect(rig.disk.entries).toMatchObject([
      {
        atMs: rig.nowMs,
        account: 'default',
        workspace: 'default',
        by: { actor: ANA.actor, address: ANA.address },
        act: 'keys.create',
        subject: { kind: 'key', id },
        before: null,
        after: { name: 'n', rpm: 5, budget_nano_usd: '2000000000', budget_window: 'day', status: 'active' },
      },
    ]);
  });

  test('every change leaves one entry with only the changed members; a command without a change leaves none', async () => {
    const rig = createControlRig();
    const { id } = await rig.run('keys.create', { name: 'n', rpm: 5 });
    await rig.run('accounts.create', { id: 'team' });
    await rig.run('workspaces.create', { id: 'w', account: 'team' });
    const { id: late } = await rig.run('keys.create', { name: 'late' });
    const steps: readonly (readonly [string, object, object | null, object])[] = [
      ['keys.set', { id, name: 'm', rpm: 6 }, { name: 'n', rpm: 5 }, { name: 'm', rpm: 6 }],
      ['keys.set', { id, rpm: null }, { rpm: 6 }, { rpm: null }],
      ['keys.disable', { id }, { status: 'active' }, { status: 'disabled' }],
      ['keys.enable', { id }, { status: 'disabled' }, { status: 'active' }],
      ['keys.revoke', { id }, { status: 'active' }, { status: 'revoked' }],
      ['workspaces.set', { id: 'w', models: ['a'] }, { models: null }, { models: ['a'] }],
      [
        'workspaces.set',
        { id: 'w', bodies: 'all', bodies_days: 7 },
        { bodies: null, bodies_days: null },
        { bodies: 'all', bodies_days: 7 },
      ],
      ['workspaces.set', { id: 'w', required_tags: ['eu'] }, { required_tags: [] }, { required_tags: ['eu'] }],
      ['keys.set', { id: late, required_tags: ['zdr', 'zdr'] }, { required_tags: [] }, { required_tags: ['zdr'] }],
      ['keys.set', { id: late, tags: { team: 'web' } }, { tags: {} }, { tags: { team: 'web' } }],
      ['keys.set', { id: late, tags: { team: null } }, { tags: { team: 'web' } }, { tags: {} }],
      [
        'accounts.set',
        { id: 'team', time_zone: 'Europe/Berlin' },
        { time_zone: 'UTC' },
        { time_zone: 'Europe/Berlin' },
      ],
      [
        'accounts.set',
        { id: 'team', budget_usd: '1' },
        { budget_nano_usd: null, budget_window: null },
        { budget_nano_usd: '1000000000', budget_window: 'total' },
      ],
      ['limits.set', { account: 'team', end_user: '*', rpm: 1 }, null, { rpm: 1, kind: 'end_user', account: 'team' }],
      ['limits.set', { account: 'team', end_user: '*', rpm: null }, { rpm: 1 }, { rpm: null }],
      ['limits.set', { model: 'm', tpm: 7 }, null, { tpm: 7, kind: 'model' }],
      [
        'accounts.topup',
        { account: 'team', usd: '5', note: 'paid', id: 'mov_1' },
        null,
        { movement: 'mov_1', moved_nano_usd: '5000000000', note: 'paid' },
      ],
      [
        'accounts.correct',
        { account: 'team', usd: '-1', note: 'typo', id: 'mov_2' },
        null,
        { movement: 'mov_2', moved_nano_usd: '-1000000000', note: 'typo' },
      ],
    ];
    for (const [act, given, before, after] of steps) {
      const count = rig.disk.entries.length;
      await rig.run(act, given);
      expect(rig.disk.entries.slice(count)).toEqual([expect.objectContaining({ act, before, after })]);
    }
    const count = rig.disk.entries.length;
    await rig.run('workspaces.set', { id: 'w', models: ['a'] });
    await rig.run('accounts.set', { id: 'team', time_zone: 'Europe/Berlin' });
    await rig.run('accounts.topup', { account: 'team', usd: '5', note: 'paid', id: 'mov_1' });
    expect(await rig.run('accounts.correct', { account: 'team', usd: '-1', note: 'typo', id: 'mov_2' })).toMatchObject({
      moved_nano_usd: '0',
    });
    expect(rig.disk.entries.length).toBe(count);
  });

  test('the entry of a rotation names the current secret, never the secret itself or its hash', async () => {
    const rig = createControlRig();
    const made = await rig.run('keys.create', { name: 'n' });
    const rotated = await rig.run('keys.rotate', { id: made.id, grace_ms: 60_000 });
    expect(rig.disk.entries[1]).toMatchObject({
      act: 'keys.rotate',
      before: { last4: made.last4, previous_expires_at: null },
      after: { last4: rotated.last4 },
    });
    const text = JSON.stringify(rig.disk.entries);
    for (const secret of [made.key, rotated.key, ...rig.directory.byHash.keys()])
      expect(text).not.toContain(String(secret));
  });

  test('a refused or failed change leaves no entry', async () => {
    const rig = createControlRig();
    await rig.refusal('keys.revoke', { id: 'gone' });
    rig.disk.full = true;
    await expect(rig.control.run('workspaces.create', { id: 'w' }, rig.by)).rejects.toThrow('the disk is full');
    expect(rig.disk.entries).toEqual([]);
  });

  test('a key that moves to another account leaves an entry with both', async () => {
    const rig = createControlRig();
    const { id } = await rig.run('keys.create', { name: 'n' });
    await rig.run('accounts.create', { id: 'team' });
    await rig.run('workspaces.create', { id: 'w', account: 'team' });
    await rig.run('keys.set', { id, workspace: 'w' });
    expect(rig.disk.entries.slice(-2).map(({ account, workspace }) => [account, workspace])).toEqual([
      ['team', 'w'],
      ['default', 'default'],
    ]);
  });
});
