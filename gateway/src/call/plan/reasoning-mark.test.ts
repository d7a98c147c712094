/** Tests that our mark is recognized for its issuer and text, and for nothing else. */
import { expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { createReasoningMark } from './kept-reasoning.ts';

const mark = createReasoningMark(new Secret('00'.repeat(32)));

test('a mark holds for the same issuer and the same text only', () => {
  const signature = mark.sign('lab', 'because');
  expect(signature).toMatch(/^gw1\.[\w-]{43}$/);
  expect(mark.isFrom('lab', signature, 'because')).toBe(true);
  expect(mark.isFrom('other', signature, 'because')).toBe(false);
  expect(mark.isFrom('lab', signature, 'becausE')).toBe(false);
  expect(mark.isFrom('lab', `${signature}x`, 'because')).toBe(false);
  expect(mark.isFrom('lab', 'EqQBCgIYAh', 'because')).toBe(false);
});

test('it holds over a restart and under no other master key', () => {
  const again = createReasoningMark(new Secret('00'.repeat(32)));
  const foreign = createReasoningMark(new Secret('11'.repeat(32)));
  expect(again.isFrom('lab', mark.sign('lab', ''), '')).toBe(true);
  expect(foreign.isFrom('lab', mark.sign('lab', 'x'), 'x')).toBe(false);
});
