/** Tests who may enable a disabled key again, matching the gateway's decision. */
import { expect, test } from 'bun:test';
import { enableLock } from './key.ts';

test('only the user who disabled a key or one who sets limits can enable it', () => {
  const byAda = { disabled_by: { id: 'ada', name: 'Ada' } };
  const developer = { may: () => false };
  expect(enableLock(byAda, developer, 'ada')).toBeNull();
  expect(enableLock(byAda, { may: (permission: string) => permission === 'limits.write' }, 'bo')).toBeNull();
  expect(enableLock(byAda, developer, 'bo')).toContain('Disabled by Ada');
  expect(enableLock({ disabled_by: null }, developer, null)).toContain('another user');
});
