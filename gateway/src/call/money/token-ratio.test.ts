/**
 * Tests that the ratio moves towards upstream's count, within its bounds, and only by content that was fully visible.
 */
import { expect, test } from 'bun:test';
import { TokenRatio } from './usage-checks.ts';

const M = { provider: 'p', model: 'm' };

test('an unknown model has four bytes to the token', () => {
  expect(new TokenRatio().tokensIn(M, 9)).toBe(3);
  expect(new TokenRatio().tokensIn(null, 9)).toBe(3);
});

test('answers teach their own model at their own provider, and short ones nothing', () => {
  const ratio = new TokenRatio();
  ratio.learn(M, 30, 15);
  expect(ratio.tokensIn(M, 4_000)).toBe(1_000);
  for (let i = 0; i < 200; i++) ratio.learn(M, 2_000, 1_000);
  expect(ratio.tokensIn(M, 4_000)).toBeGreaterThan(1_950);
  expect(ratio.tokensIn({ provider: 'p', model: 'other' }, 4_000)).toBe(1_000);
  expect(ratio.tokensIn({ provider: 'other', model: 'm' }, 4_000)).toBe(1_000);
});

test.each([
  ['hidden reasoning among the tokens', 18, 500],
  ['less than one and a half bytes a token', 1_499, 1_000],
  ['tokens and no text', 0, 500],
  ['more than sixteen', 16_001, 1_000],
  ['text that was not counted', 1e12, 16],
])('%s teaches nothing', (_, bytes, tokens) => {
  const ratio = new TokenRatio();
  for (let i = 0; i < 40; i++) ratio.learn(M, bytes, tokens);
  expect(ratio.tokensIn(M, 4_000)).toBe(1_000);
});

test('no number of upstream’s takes it out of its bounds', () => {
  const ratio = new TokenRatio();
  for (let i = 0; i < 500; i++) ratio.learn(M, 16_000, 1_000);
  expect(ratio.tokensIn(M, 8_000)).toBeGreaterThanOrEqual(1_000);
  for (let i = 0; i < 500; i++) ratio.learn(M, 1_500, 1_000);
  expect(ratio.tokensIn(M, 8_000)).toBeLessThanOrEqual(5_334);
});
