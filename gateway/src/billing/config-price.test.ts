/** Tests how an operator writes a price. */
import { describe, expect, test } from 'bun:test';
import { type ConfigPrice, parseConfigPrice } from './config-price.ts';
import { FREE_PRICE, PRICE_MEMBERS, parsePriceVersion } from './price.ts';

describe('parseConfigPrice', () => {
  test('reads the contract’s example', () => {
    expect(parseConfigPrice({ input: 0.25, cache_read: 0.025, output: '2.00' })).toEqual({
      input: 250_000n,
      cache_read: 25_000n,
      cache_write_5m: 250_000n,
      cache_write_1h: 250_000n,
      output: 2_000_000n,
      reasoning: 2_000_000n,
      audio_input: 250_000n,
      audio_cache_read: 25_000n,
      audio_output: 2_000_000n,
      image_input: 250_000n,
      image_output: 2_000_000n,
      cache_write_30m: 250_000n,
      tiers: [],
      fees: new Map(),
      markUpPpm: 0n,
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

  test('fills a tier from its own prices, and its version has the start of its period', () => {
    const tier = { above: 200_000, input: 4, output: '12', cache_write: 5 };
    const price = parseConfigPrice({ input: 2, output: 8, cache_read: 0.5, from: '2026-12-01', tiers: [tier] });
    expect(price.tiers.map(({ inputTokensAbove, rates }) => [inputTokensAbove, rates.cache_read])).toEqual([
      [200_000, 4_000_000n],
    ]);
    expect(price.version).toBe('config:2026-12-01@2_0.5_2_2_8_8;>200000=4_4_5_5_12_12');
    expect(parsePriceVersion(price.version)).toEqual(price);
  });

  test('reads audio, images and fees per 1,000 requests, and its version has only the stated ones', () => {
    const tiers = [{ above: 1000, input: 3, output: 20, image_input: 4 }];
    const price = parseConfigPrice({
      input: 2,
      output: 10,
      audio_input: 40,
      audio_output: '80',
      image_input: 2,
      tiers,
      per_1000_requests: { web_search: 10, code_execution: '0.5', web_fetch: 0 },
    });
    expect(price.fees).toEqual(
      new Map([
        ['code_execution', 500_000n],
        ['web_fetch', 0n],
        ['web_search', 10_000_000n],
      ]),
    );
    expect(price.version).toBe(
      'config@2_2_2_2_10_10,audio_input=40,audio_cache_read=40,audio_output=80;>1000=3_3_3_3_20_20,image_input=4' +
        ';code_execution=0.5/1000;web_fetch=0/1000;web_search=10/1000',
    );
    expect(parsePriceVersion(price.version)).toEqual(price);
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
    [{ input: 1, output: 1, audio_input: 'x' }, 'audio_input: found "x", expected a decimal number of USD per million'],
    [
      { input: 1, output: 1, per_1000_requests: { web_search: -1 } },
      'web_search: found -1, expected a decimal number of USD per 1,000 requests',
    ],
    [
      { input: 1, output: 1, per_1000_requests: { web_search: 1001 } },
      'web_search: found 1001, expected at most 1000 USD per 1,000 requests',
    ],
    [{ input: 1, output: 1, per_1000_requests: { 'Web Search': 1 } }, '"Web Search": found no name of a tool'],
    [
      { input: 1, output: 1, tiers: [{ above: 5, input: 1, output: 1, per_1000_requests: {} }] },
      'per_1000_requests: found an unknown',
    ],
    [{ input: 1, output: 1, cached: 1 }, 'cached: found an unknown member of a price, expected one of input, '],
    [{ input: 1, output: 1, cache_write: 1, cache_write_5m: 1 }, 'expected one of the two: they mean the same'],
    ['gratis', 'price: found "gratis", expected the word free, or an object with at least input and output'],
    [null, 'price: found null, expected the word free'],
    [[1, 2], 'price: found [1,2], expected the word free'],
    [{ input: 1, output: 1, tiers: [{ above: 5, input: 1 }] }, 'output: found nothing'],
    [{ input: 1, output: 1, tiers: [{ above: 5, input: 1, output: 1, from: '2026-12-01' }] }, 'from: found an unknown'],
    [{ input: 1, output: 1, above: 5 }, 'above: found an unknown member of a price'],
    [
      { input: 1, output: 1, tiers: [9, 9].map((above) => ({ above, input: 1, output: 1 })) },
      'tiers: found a tier above 9, expected a whole number over 9: tiers ascend',
    ],
  ])('refuses %j and names the member', (written, message) => {
    expect(() => parseConfigPrice(written as ConfigPrice)).toThrow(message);
  });
});
