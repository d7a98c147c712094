/** Tests that prices and costs of cost lines keep every digit. */
import { expect, test } from 'bun:test';
import { estimateText, exactPicoUsd, parsePrice, picoToNano, usdPerMillion, usdPerThousand } from './money.ts';

test('formats prices per token as US dollars per million', () => {
  expect(['3000000', '300000', '1', '0'].map(usdPerMillion)).toEqual(['3', '0.3', '0.000001', '0']);
});

test('formats fees per request as US dollars per thousand', () => {
  expect(['10000000000', '2500000', '0'].map(usdPerThousand)).toEqual(['10', '0.0025', '0']);
});

test('formats costs with all digits', () => {
  expect(['3636000000', '1', '2000000000000'].map(exactPicoUsd)).toEqual(['$0.003636', '$0.000000000001', '$2.00']);
});

test('parses prices exactly or rejects them', () => {
  expect(['3', '0.25', ' 0.000001 '].map(parsePrice)).toEqual([3_000_000n, 250_000n, 1n]);
  expect(['', '-1', '1e3', '0.0000001', '3 USD'].map(parsePrice)).toEqual([null, null, null, null, null]);
});

test('rounds an estimate to the nearest nano-dollar', () => {
  expect([499n, 500n, 1_499n].map(picoToNano)).toEqual(['0', '1', '1']);
  expect(estimateText(1_234_567_890n)).toBe('$0.001234568');
});
