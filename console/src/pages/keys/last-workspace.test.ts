/** Tests which workspace is preselected for a new key. */
import { expect, test } from 'bun:test';
import { defaultWorkspace } from './create-key.tsx';

test.each([
  [['archive', 'default', 'team-a'], null, 'default'],
  [['archive', 'default', 'team-a'], 'team-a', 'team-a'],
  [['archive', 'default'], 'gone', 'default'],
  [['team-a', 'team-b'], null, 'team-a'],
  [[], 'default', ''],
] as const)('of %p after %p it is %p', (workspaces, last, usual) => {
  expect(defaultWorkspace(workspaces, last)).toBe(usual);
});
