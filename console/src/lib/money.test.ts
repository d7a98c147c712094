/** Tests how amounts are shown: short ones with two to four digits, exact ones with all. */
import { expect, test } from 'bun:test';
import { exactUsd, missingZeros, shortUsd } from './money.ts';

test.each([
  ['0', '$0.00'],
  ['1', '<$0.0001'],
  ['49999', '<$0.0001'],
  ['50000', '$0.0001'],
  ['132000', '$0.0001'],
  ['1900000', '$0.0019'],
  ['12000000', '$0.012'],
  ['120000000', '$0.12'],
  ['123456789', '$0.1235'],
  ['500000000', '$0.50'],
  ['999949999', '$0.9999'],
  ['999950000', '$1.00'],
  ['1234567890', '$1.23'],
  ['1235000000', '$1.24'],
  ['1234567890123456', '$1,234,567.89'],
  ['-1', '>-$0.0001'],
  ['-1900000', '-$0.0019'],
  ['-25000000000', '-$25.00'],
])('%s nano-USD are shown as %s', (nano, text) => {
  expect(shortUsd(nano)).toBe(text);
});

test('pads an amount to four decimals', () => {
  expect(['$1.23', '$0.012', '$0.0019', '<$0.0001'].map(missingZeros)).toEqual(['00', '0', '', '']);
});

test('an exact amount has all digits', () => {
  expect(['1', '-1234567890', '5000000000'].map(exactUsd)).toEqual(['$0.000000001', '-$1.23456789', '$5.00']);
});
