/** Tests that the audit entries of commands say what a budget was before. */
import { expect, test } from 'bun:test';
import { createControlRig } from '../control/testing/control-rig.ts';
import type { AuditTrail } from '../store/ports/audit.ts';
import { readBudgetChanges } from './read-budget-changes.ts';

test('the amount of a budget before each change, oldest first', async () => {
  const rig = createControlRig();
  const read: AuditTrail['read'] = async ({ fromMs }) =>
    rig.disk.entries
      .map((entry, seq) => ({ ...entry, seq }))
      .filter(({ atMs }) => atMs >= (fromMs ?? 0))
      .reverse();
  const id = String((await rig.run('keys.create', { name: 'n', budget_usd: '2', budget_window: 'day' })).id);
  await rig.run('keys.set', { id, name: 'other' });
  await rig.run('keys.set', { id, rpm: 4 });
  await rig.run('keys.set', { id, budget_usd: '3' });
  await rig.run('keys.set', { id, budget_window: 'week' });
  await rig.run('keys.set', { id, budget_usd: null });
  await rig.run('limits.set', { account: 'default', end_user: 'ada', budget_usd: '1', budget_window: 'day' });
  await rig.run('limits.set', { account: 'default', end_user: 'ada', budget_usd: '5' });
  const key = { kind: 'key', id } as const;
  const ada = { kind: 'end_user', id: 'default/ada' } as const;
  const found = await readBudgetChanges({ read }, 'default', 0);
  expect(found.map(({ subject, before }) => ({ subject, before }))).toEqual([
    { subject: key, before: null },
    { subject: key, before: 2_000_000_000n },
    { subject: key, before: null },
    { subject: key, before: null },
    { subject: ada, before: null },
    { subject: ada, before: 1_000_000_000n },
  ]);
  expect(await readBudgetChanges({ read }, 'default', rig.nowMs + 1)).toEqual([]);
});
