/** Tests which of a model's prices is in force at a given time. */
import { describe, expect, test } from 'bun:test';
import { FREE_PRICE } from './price.ts';
import { bookOf, type ConfigPrices, parsePriceBook, priceAt } from './price-book.ts';

const DECEMBER = Date.UTC(2026, 11, 1);
const versionAt = (written: ConfigPrices, atMs: number) => priceAt(parsePriceBook(written, FREE_PRICE), atMs)?.version;

describe('parsePriceBook', () => {
  test('has one price for all time where it has no beginning', () => {
    for (const atMs of [Number.MIN_SAFE_INTEGER, 0, DECEMBER]) {
      expect(versionAt({ input: 1, output: 2 }, atMs)).toStartWith('config@1_');
      expect(versionAt('free', atMs)).toBe(FREE_PRICE.version);
    }
  });

  test('changes the price at the exact millisecond at which the next one begins, in any order of the list', () => {
    const written = [
      { from: '2027-01-01T00:00:00+01:00', input: 3, output: 3 },
      { input: 1, output: 1 },
      { from: '2026-12-01', input: 2, output: 2 },
    ];
    expect(versionAt(written, 0)).toStartWith('config@1_');
    expect(versionAt(written, DECEMBER - 1)).toStartWith('config@1_');
    expect(versionAt(written, DECEMBER)).toStartWith('config:2026-12-01@2_');
    expect(versionAt(written, Date.UTC(2026, 11, 31, 23) - 1)).toStartWith('config:2026-12-01@2_');
    expect(versionAt(written, Date.UTC(2026, 11, 31, 23))).toStartWith('config:2027-01-01T00:00:00+01:00@3_');
  });

  test('has the price of before, or none, until the first one begins', () => {
    const written = { from: '2026-12-01', input: 2, output: 2 };
    expect(versionAt(written, DECEMBER - 1)).toBe(FREE_PRICE.version);
    expect(priceAt(parsePriceBook(written, null), DECEMBER - 1)).toBeNull();
    expect(priceAt(parsePriceBook(written, null), DECEMBER)?.input).toBe(2_000_000n);
  });

  test.each<[ConfigPrices, string]>([
    [[], 'price: found an empty list, expected at least one price'],
    [{ from: 'soon', input: 1, output: 1 }, 'from: found "soon", expected a day such as 2026-12-01'],
    [
      [
        { input: 1, output: 1 },
        { input: 2, output: 2 },
      ],
      'from: found two prices that begin at the same moment',
    ],
    [
      ['2026-12-01', '2026-12-01T01:00+01:00'].map((from) => ({ from, input: 1, output: 1 })),
      'from: found two prices that begin at the same moment',
    ],
  ])('refuses %j', (written, message) => {
    expect(() => parsePriceBook(written, null)).toThrow(message);
  });
});

test('a book of one price, or none, has it at every moment', () => {
  expect(priceAt(bookOf(FREE_PRICE), 0)).toBe(FREE_PRICE);
  expect(priceAt(bookOf(null), 0)).toBeNull();
});
