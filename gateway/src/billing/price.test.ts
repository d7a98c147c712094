/** Checks how a price is filled and written by an operator, and that its version text gives it back. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type ConfigPrice,
  FREE_PRICE,
  fillPrice,
  PRICE_MEMBERS,
  parseConfigPrice,
  parsePriceVersion,
} from './price.ts';

describe('fillPrice', () => {
  test('prices what is missing as input or output, never 0', () => {
    expect(fillPrice({ input: 3n, output: 15n }, 'x')).toMatchObject({
      cache_read: 3n,
      cache_write_5m: 3n,
      cache_write_1h: 3n,
      reasoning: 15n,
    });
  });

  test('prices a missing 1-hour cache write as the 5-minute one', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_write_5m: 4n }, 'x').cache_write_1h).toBe(4n);
  });

  test('prices a missing 5-minute cache write as input though the 1-hour one is given', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_write_1h: 6n }, 'x').cache_write_5m).toBe(3n);
  });

  test('keeps a price of 0 that was given', () => {
    expect(fillPrice({ input: 3n, output: 15n, cache_read: 0n }, 'x').cache_read).toBe(0n);
  });
});

describe('parseConfigPrice', () => {
  test('reads the contract’s example', () => {
    expect(parseConfigPrice({ input: 0.25, cache_read: 0.025, output: '2.00' })).toEqual({
      input: 250_000n,
      cache_read: 25_000n,
      cache_write_5m: 250_000n,
      cache_write_1h: 250_000n,
      output: 2_000_000n,
      reasoning: 2_000_000n,
      version: 'config@0.25_0.025_0.25_0.25_2_2',
    });
  });

  test('reads the word free as 0 throughout', () => {
    expect(parseConfigPrice('free')).toBe(FREE_PRICE);
    expect(PRICE_MEMBERS.map((member) => FREE_PRICE[member])).toEqual([0n, 0n, 0n, 0n, 0n, 0n]);
    expect(FREE_PRICE.version).toBe('free@0_0_0_0_0_0');
  });

  test('reads cache_write as the 5-minute write, and so as the 1-hour one', () => {
    const price = parseConfigPrice({ input: 3, output: 15, cache_write: 3.75 });
    expect([price.cache_write_5m, price.cache_write_1h]).toEqual([3_750_000n, 3_750_000n]);
  });

  test('gives the same version to the same price however it was written', () => {
    const one = parseConfigPrice({ input: '0.250', output: 2, cache_write: '1e0' });
    const other = parseConfigPrice({ output: '2.0', input: 0.25, cache_write_5m: 1, reasoning: 2 });
    expect(one).toEqual(other);
  });

  test.each<[unknown, string]>([
    [{ output: 1 }, 'input: found nothing, expected USD per million tokens; a price needs at least input and output'],
    [{ input: 1 }, 'output: found nothing, expected USD per million tokens'],
    [{ input: -1, output: 1 }, 'input: found -1, expected a decimal number'],
    [{ input: 1, output: 1, cache_write: 'x' }, 'cache_write: found "x", expected a decimal number'],
    [{ input: 1, output: 1, cache_write_5m: 'x' }, 'cache_write_5m: found "x", expected a decimal number'],
    [{ input: 1, output: 1, reasoning: null }, 'reasoning: found null, expected a decimal number'],
    [{ input: 1, output: 1, cached: 1 }, 'cached: found an unknown member of a price, expected one of input, '],
    [{ input: 1, output: 1, cache_write: 1, cache_write_5m: 1 }, 'expected one of the two: they mean the same'],
    ['gratis', 'price: found "gratis", expected the word free, or an object with at least input and output'],
    [null, 'price: found null, expected the word free'],
    [[1, 2], 'price: found [1,2], expected the word free'],
  ])('refuses %j and names the member', (written, message) => {
    expect(() => parseConfigPrice(written as ConfigPrice)).toThrow(message);
  });
});

describe('parsePriceVersion', () => {
  test('gives back every price from its version alone, whatever the model is called', () => {
    const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000n });
    fc.assert(
      fc.property(fc.array(price, { minLength: 6, maxLength: 6 }), fc.string(), (prices, id) => {
        const [input = 0n, output = 0n, cache_read, cache_write_5m, cache_write_1h, reasoning] = prices;
        const published = { input, output, cache_read, cache_write_5m, cache_write_1h, reasoning };
        const filled = fillPrice(published, `catalog:2026-11-20/openai/${id}`);
        expect(parsePriceVersion(filled.version)).toEqual(filled);
      }),
    );
  });

  test.each(['', 'config', '@1_1_1_1_1_1', 'config@1_1_1_1_1', 'config@1_1_1_1_1_1_1'])('refuses %p', (version) => {
    expect(() => parsePriceVersion(version)).toThrow(`price_version: found ${JSON.stringify(version)}`);
  });

  test('names the member that is not a number', () => {
    expect(() => parsePriceVersion('config@1_1_1_1_x_1')).toThrow('output: found "x"');
  });
});
