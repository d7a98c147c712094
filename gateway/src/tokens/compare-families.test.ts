/** Tests the estimated ranges between tokenizers. */
import { expect, test } from 'bun:test';
import { compareTokens, SAME_TOKENS } from './compare-families.ts';

test('models of one family take the same tokens', () => {
  expect(compareTokens('gpt-5', 'gpt-5-mini')).toEqual(SAME_TOKENS);
});

test('a larger tokenizer takes more tokens, and the way back takes fewer', () => {
  const there = compareTokens('gpt-5', 'claude-opus-4-8');
  expect(there.low).toBeGreaterThan(1.1);
  expect(there.high).toBeLessThan(2);
  expect(there.low).toBeLessThanOrEqual(there.high);
  const back = compareTokens('claude-opus-4-8', 'gpt-5');
  expect(back.high).toBeCloseTo(1 / there.low, 5);
  expect(back.low).toBeCloseTo(1 / there.high, 5);
});
