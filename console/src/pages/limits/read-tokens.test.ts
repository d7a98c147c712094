/** Tests how a token count is read. */
import { expect, test } from 'bun:test';
import { readTokens } from './simulator.tsx';

test('parses a count with or without separators', () => {
  expect(readTokens(' 12,000 ', 0)).toBe(12_000);
  expect(readTokens('0', 0)).toBe(0);
  expect(readTokens('100000000', 1)).toBe(100_000_000);
});

test.each(['', '-1', '1.5', '1e3', '100000001', 'many'])('rejects %j', (text) => {
  expect(readTokens(text, 0)).toBeUndefined();
});

test('rejects less than the minimum', () => {
  expect(readTokens('0', 1)).toBeUndefined();
});
