/** Tests the message for names that are not valid ids. */
import { expect, test } from 'bun:test';
import { FIRST_WORKSPACE, workspaceFault } from './owner-form.tsx';

test('accepts ids', () => {
  for (const text of [FIRST_WORKSPACE, 'team-1', 'a', '0x_y', 'a'.repeat(64)]) expect(workspaceFault(text)).toBeNull();
});
test('rejects other text with the expected format', () => {
  expect(workspaceFault('')).toContain('Enter a name');
  for (const text of ['My team', '-a', 'a'.repeat(65), 'ä', 'a.b'])
    expect(workspaceFault(text)).toContain('Use up to 64');
});
