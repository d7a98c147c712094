/** Tests how the cost of an unfinished answer is estimated. */
import { expect, test } from 'bun:test';
import type { PriceView } from '../../models/model-facts.ts';
import { type Answer, EMPTY_ANSWER } from './answer.ts';
import { estimateCost } from './estimate.ts';

const PRICE: PriceView = {
  version: 'v',
  from: null,
  free: false,
  input: '2',
  output: '10',
  cache_read: '0.2',
  cache_write_5m: null,
  cache_write_1h: '4',
  reasoning: '20',
  source: 'catalogue',
};
const answer = (given: Partial<Answer>): Answer => ({ ...EMPTY_ANSWER, ...given });

test('estimates four characters per token before the provider reports', () => {
  expect(estimateCost(PRICE, 8, answer({ text: 'abcde' }))).toEqual({
    picoUsd: 2n * 2_000_000n + 2n * 10_000_000n,
    outputTokens: 2,
    isGuess: true,
  });
});

test('prices the provider’s final counts by type; reasoning is part of output', () => {
  const usage = { input: 10, cacheRead: 100, cacheWrite5m: 1, cacheWrite1h: 1, output: 5, reasoning: 2 };
  expect(estimateCost(PRICE, 8, answer({ usage, finish: 'stop', isComplete: true }))).toEqual({
    picoUsd: 20_000_000n + 20_000_000n + 2_000_000n + 4_000_000n + 30_000_000n + 40_000_000n,
    outputTokens: 5,
    isGuess: false,
  });
});

test('early counts don’t limit the estimate', () => {
  const usage = { input: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 };
  expect(estimateCost(PRICE, 8, answer({ usage, text: 'x'.repeat(40) }))).toMatchObject({
    outputTokens: 10,
    isGuess: true,
  });
});

test('free costs nothing, and no price means no estimate', () => {
  expect(estimateCost({ ...PRICE, free: true }, 8, answer({ text: 'abcd' }))?.picoUsd).toBe(0n);
  expect(estimateCost(null, 8, answer({ text: 'abcd' }))).toBeNull();
});
