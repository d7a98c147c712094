/** Tests retry-tokens.ts: a token is valid for its workspace, at its provider, for as long as upstream knows it. */
import { expect, test } from 'bun:test';
import { createRetryTokens } from './retry-tokens.ts';

const OWNER = { workspace: 'w1', provider: 'anthropic' };

test('a token goes back to the provider that issued it, for the workspace that got it', () => {
  const tokens = createRetryTokens();
  tokens.note('fct_1', OWNER, 0);
  expect(tokens.isFrom('fct_1', OWNER, 1)).toBe(true);
  expect(tokens.isFrom('fct_1', { ...OWNER, workspace: 'w2' }, 1)).toBe(false);
  expect(tokens.isFrom('fct_1', { ...OWNER, provider: 'lab' }, 1)).toBe(false);
  expect(tokens.isFrom('fct_2', OWNER, 1)).toBe(false);
});

test('a token is forgotten when upstream forgets it', () => {
  const tokens = createRetryTokens();
  tokens.note('fct_1', OWNER, 0);
  expect(tokens.isFrom('fct_1', OWNER, 299_999)).toBe(true);
  expect(tokens.isFrom('fct_1', OWNER, 300_000)).toBe(false);
});

test('more tokens than are remembered push out the oldest', () => {
  const tokens = createRetryTokens();
  for (let nth = 0; nth <= 10_000; nth++) tokens.note(`fct_${nth}`, OWNER, 0);
  expect(tokens.isFrom('fct_0', OWNER, 1)).toBe(false);
  expect(tokens.isFrom('fct_10000', OWNER, 1)).toBe(true);
});
