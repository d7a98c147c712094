/** Tests how a secret is split into groups. */
import { expect, test } from 'bun:test';
import { grouped } from './second-factor-panel.tsx';

test('groups by four without a trailing space', () => {
  expect(grouped('JBSWY3DPEHPK3PXP')).toBe('JBSW Y3DP EHPK 3PXP');
  expect(grouped('JBSWY')).toBe('JBSW Y');
  expect(grouped('')).toBe('');
});
