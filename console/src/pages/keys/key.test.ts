/** Tests who may enable a disabled key again, matching the gateway's decision. */
import { expect, test } from 'bun:test';
import { enableLock } from './key.ts';

test('who disabled a key enables it, or who sets limits; the others are told who it was', () => {
  const byAda = { disabled_by: { id: 'ada', name: 'Ada' } };
  const developer = { may: () => false };
  expect(enableLock(byAda, developer, 'ada')).toBeNull();
  expect(enableLock(byAda, { may: (permission: string) => permission === 'limits.write' }, 'bo')).toBeNull();
  expect(enableLock(byAda, developer, 'bo')).toContain('Disabled by Ada');
  expect(enableLock({ disabled_by: null }, developer, null)).toContain('somebody else');
});
