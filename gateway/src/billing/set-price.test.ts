/**
 * Tests which of the prices set in the console is in force at a given time, and that a record's version recomputes it.
 */
import { expect, test } from 'bun:test';
import type { StoredPrice } from '../store/ports/providers.ts';
import { FREE_PRICE, parsePriceVersion } from './price.ts';
import { addPeriods, groupSetPrices, parseSetPrice, priceAt } from './price-book.ts';

const set = (fromMs: number, input: string | null): StoredPrice => ({
  model: 'm',
  fromMs,
  rates: input === null ? null : { input, output: '9' },
  createdBy: 'p',
  createdAtMs: 0,
});

test('the known price applies before the first set price, then each from its start', () => {
  const periods = groupSetPrices([set(2_000, '2'), set(1_000, '1')]).get('m') ?? [];
  const book = addPeriods(FREE_PRICE, periods);
  const at = (ms: number) => priceAt(book, ms)?.input;
  expect([at(999), at(1_000), at(1_999), at(2_000)]).toEqual([0n, 1_000_000n, 1_000_000n, 2_000_000n]);
});

test('of two periods with the same start, the later one applies', () => {
  const book = addPeriods(null, groupSetPrices([set(5, '3'), set(5, '4')]).get('m') ?? []);
  expect(priceAt(book, 5)?.input).toBe(4_000_000n);
  expect(book).toHaveLength(2);
});

test('the version names its origin and recomputes the price', () => {
  const price = parseSetPrice(set(Date.UTC(2026, 10, 22), '0.25'));
  expect(price.version).toBe('console:2026-11-22T00:00:00.000Z@0.25_0.25_0.25_0.25_9_9');
  expect(parsePriceVersion(price.version)).toEqual(price);
  expect(parseSetPrice(set(0, null))).toBe(FREE_PRICE);
});

test('a rate that is no number is refused by its name', () => {
  expect(() => parseSetPrice(set(0, '-1'))).toThrow('input');
});
