/** Tests how durations are parsed. */
import { describe, expect, test } from 'bun:test';
import { parseDurationMs } from './quantity.ts';

describe('parseDurationMs', () => {
  test.each([
    ['300ms', 300],
    ['0s', 0],
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['36525d', 3_155_760_000_000],
  ])('reads %s', (text, expected) => expect(parseDurationMs(text)).toBe(expected));

  test.each([
    '',
    '30',
    'd',
    '-1d',
    '1.5h',
    ' 1h',
    '1h ',
    '1 h',
    '1w',
    '1H',
    '1h30m',
    '1e3s',
    '٣s',
    '9999999999999999s',
  ])('refuses %p with the expected form', (text) =>
    expect(() => parseDurationMs(text)).toThrow(/found ".*", expected a whole number and a unit: ms, s, m, h or d/),
  );

  test('refuses more than a hundred years', () => {
    expect(() => parseDurationMs('36526d')).toThrow('found 36526d, expected at most 36525d (a hundred years)');
  });

  test('does not repeat a hostile text at length', () => {
    expect(() => parseDurationMs('x'.repeat(100_000))).toThrow(/^.{0,200}$/);
  });
});
