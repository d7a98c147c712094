/** Tests how byte sizes are parsed. */
import { expect, test } from 'bun:test';
import { parseByteSize } from './quantity.ts';

test.each([
  ['0B', 0],
  ['1000B', 1000],
  ['256KiB', 262_144],
  ['32MiB', 33_554_432],
  ['1GiB', 1_073_741_824],
  ['2TiB', 2_199_023_255_552],
])('reads %s', (text, expected) => expect(parseByteSize(text)).toBe(expected));

test.each(['', '32', '32MB', '32mib', '1.5MiB', '-1B', '1 MiB', '32M', 'MiB'])('refuses %p', (text) => {
  expect(() => parseByteSize(text)).toThrow(/found ".*", expected a whole number and a unit: B, KiB, MiB, GiB or TiB/);
});

test('refuses more than a number can count exactly', () => {
  expect(parseByteSize('8191TiB')).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(() => parseByteSize('8192TiB')).toThrow('found 8192TiB, expected at most 8191TiB');
});
