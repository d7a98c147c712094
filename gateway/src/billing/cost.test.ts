/** Tests that a cost is the exact sum of counters times prices, rounded once. */
import { describe, expect, test } from 'bun:test';
import { type Usage, ZERO_USAGE } from '../generation/usage.ts';
import { parseConfigPrice } from './config-price.ts';
import { FREE_PRICE, MARK_UP_PPM_MAX, MARK_UP_PPM_MIN, parsePriceVersion, unpricedTools, withMarkUp } from './price.ts';
import { ceilNanoUsd, chargedNanoUsd, costNanoUsd } from './price-book.ts';
import { billRandomCalls } from './testing/random-bills.ts';

const usage = (counters: Partial<Usage>): Usage => ({ ...ZERO_USAGE, ...counters });

describe('costNanoUsd', () => {
  test('bills each counter at its own price', () => {
    const price = parseConfigPrice({
      input: 1,
      cache_read: 0.1,
      cache_write_5m: 1.25,
      cache_write_1h: 2,
      output: 5,
      reasoning: 7,
    });
    const cost = (counters: Partial<Usage>) => costNanoUsd(usage(counters), price);
    expect(cost({ input: 1000 })).toBe(1_000_000n);
    expect(cost({ cache_read: 1000 })).toBe(100_000n);
    expect(cost({ cache_write_5m: 1000 })).toBe(1_250_000n);
    expect(cost({ cache_write_1h: 1000 })).toBe(2_000_000n);
    expect(cost({ output: 1000 })).toBe(5_000_000n);
    expect(cost({ output: 1000, reasoning: 400 })).toBe(600n * 5000n + 400n * 7000n);
  });

  test('counts reasoning within output, not in addition', () => {
    const price = parseConfigPrice({ input: 1, output: 5 });
    expect(costNanoUsd(usage({ output: 1000, reasoning: 1000 }), price)).toBe(
      costNanoUsd(usage({ output: 1000 }), price),
    );
  });

  test('bills audio and images at their own price, and excludes them from their totals', () => {
    const price = parseConfigPrice({
      input: 1,
      cache_read: 0.5,
      output: 5,
      reasoning: 7,
      audio_input: 40,
      audio_cache_read: 2,
      audio_output: 80,
      image_input: 0.25,
      image_output: 30,
    });
    const extras = { audio_input: 100, audio_cache_read: 10, audio_output: 20, image_input: 300, image_output: 5 };
    expect(costNanoUsd(usage({ input: 1000, cache_read: 50, output: 200, reasoning: 60, extras }), price)).toBe(
      600n * 1000n +
        100n * 40_000n +
        300n * 250n +
        40n * 500n +
        10n * 2000n +
        115n * 5000n +
        60n * 7000n +
        20n * 80_000n +
        5n * 30_000n,
    );
  });

  test('bills requests of server tools by kind; a kind without a fee costs nothing and is reported as unpriced', () => {
    const price = parseConfigPrice({ input: 1, output: 5, per_1000_requests: { web_search: 10, web_fetch: 0 } });
    const extras = { server_tools: { web_search: 3, web_fetch: 2, tool_search: 7 } };
    expect(costNanoUsd(usage({ extras }), price)).toBe(30_000_000n);
    expect(costNanoUsd(usage({ extras }), withMarkUp(price, 500_000))).toBe(45_000_000n);
    expect(unpricedTools(extras, price.fees)).toEqual(['tool_search']);
    expect(unpricedTools(undefined, price.fees)).toEqual([]);
    expect(unpricedTools(extras, FREE_PRICE.fees)).toEqual([]);
    expect(unpricedTools(extras, parsePriceVersion(FREE_PRICE.version).fees)).toEqual([]);
    expect(costNanoUsd(usage({ extras }), FREE_PRICE)).toBe(0n);
  });

  test('takes sound, too, at the rates of the tier', () => {
    const tiers = [{ above: 1000, input: 2, output: 10, audio_input: 90 }];
    const price = parseConfigPrice({ input: 1, output: 5, audio_input: 40, tiers });
    expect(costNanoUsd(usage({ input: 1000, extras: { audio_input: 400 } }), price)).toBe(
      600n * 1000n + 400n * 40_000n,
    );
    expect(costNanoUsd(usage({ input: 1001, extras: { audio_input: 400 } }), price)).toBe(
      601n * 2000n + 400n * 90_000n,
    );
  });

  test.each([
    ['0.000499', 0n],
    ['0.0005', 1n],
    ['0.001499', 1n],
    ['0.0015', 2n],
  ])('rounds one token at %s USD per million half up', (input, nano) => {
    expect(costNanoUsd(usage({ input: 1 }), parseConfigPrice({ input, output: 0 }))).toBe(nano);
  });

  test('rounds once for the call, not once per counter', () => {
    const price = parseConfigPrice({ input: '0.0004', output: '0.0004' });
    expect(costNanoUsd(usage({ input: 1, output: 1 }), price)).toBe(1n);
  });

  test('costs nothing without tokens, or at the price free', () => {
    expect(costNanoUsd(ZERO_USAGE, parseConfigPrice({ input: 1, output: 1 }))).toBe(0n);
    expect(costNanoUsd(usage({ input: 9e9, output: 9e9 }), FREE_PRICE)).toBe(0n);
  });

  test('stays exact at the largest counters', () => {
    const price = parseConfigPrice({ input: 1_000_000, output: 0.000001 });
    const most = Number.MAX_SAFE_INTEGER;
    expect(costNanoUsd(usage({ input: most }), price)).toBe(BigInt(most) * 1_000_000_000n);
    expect(costNanoUsd(usage({ output: most }), price)).toBe((BigInt(most) + 500n) / 1000n);
  });

  test('bills cache writes for 30 minutes at their own price, else as the 5-minute ones', () => {
    const written = usage({ cache_write_5m: 100, cache_write_1h: 1, extras: { cache_write_30m: 40 } });
    const rates = { input: 1, output: 5, cache_write_5m: 2, cache_write_1h: 3 };
    const price = parseConfigPrice({ ...rates, cache_write_30m: 7 });
    expect(costNanoUsd(written, price)).toBe(60n * 2000n + 40n * 7000n + 3000n);
    expect(costNanoUsd(written, parsePriceVersion(price.version))).toBe(60n * 2000n + 40n * 7000n + 3000n);
    expect(costNanoUsd(written, parseConfigPrice(rates))).toBe(100n * 2000n + 3000n);
  });

  test.each<[Partial<Usage>, string]>([
    [{ input: -1 }, 'usage input: found -1, expected a whole number of tokens, 0 or more'],
    [{ cache_read: 1.5 }, 'usage cache_read: found 1.5'],
    [{ cache_write_5m: Number.NaN }, 'usage cache_write_5m: found NaN'],
    [{ cache_write_1h: 2 ** 53 }, 'usage cache_write_1h: found 9007199254740992'],
    [{ output: 1, reasoning: 2 }, 'usage output - reasoning: found -1'],
    [{ output: 1, reasoning: -1 }, 'usage reasoning: found -1'],
    [{ input: 3, extras: { audio_input: 2, image_input: 2 } }, 'usage input - audio_input - image_input: found -1'],
    [{ input: 3, extras: { audio_cache_read: 1 } }, 'usage cache_read - audio_cache_read: found -1'],
    [{ cache_write_5m: 1, extras: { cache_write_30m: 2 } }, 'usage cache_write_5m - cache_write_30m: found -1'],
    [
      { output: 3, reasoning: 1, extras: { audio_output: 2, image_output: 1 } },
      'usage output - reasoning - audio_output - image_output: found -1',
    ],
    [{ input: 3, extras: { audio_input: -1 } }, 'usage audio_input: found -1'],
    [{ extras: { server_tools: { web_search: 0.5 } } }, 'usage server_tools.web_search: found 0.5'],
  ])('refuses to bill %j', (counters, message) => {
    expect(() => costNanoUsd(usage(counters), parseConfigPrice({ input: 1, output: 1 }))).toThrow(message);
  });

  test('charges the whole call at the tier that its input, caches included, exceeds', () => {
    const tiers = [{ above: 1000, input: 2, output: 10, cache_read: 0.2, cache_write: 3 }];
    const price = parseConfigPrice({ input: 1, output: 5, cache_read: 0.1, tiers });
    const counters = { input: 400, cache_read: 300, cache_write_5m: 200, output: 50 };
    expect(costNanoUsd(usage({ ...counters, cache_write_1h: 100 }), price)).toBe(
      400n * 1000n + 300n * 100n + 200n * 1000n + 100n * 1000n + 50n * 5000n,
    );
    expect(costNanoUsd(usage({ ...counters, cache_write_1h: 101 }), price)).toBe(
      400n * 2000n + 300n * 200n + 200n * 3000n + 101n * 3000n + 50n * 10_000n,
    );
  });

  test.each([
    [200_000, 1_200_000n],
    [-200_000, 800_000n],
    [MARK_UP_PPM_MIN, 0n],
    [MARK_UP_PPM_MAX, 101_000_000n],
  ])('adds a mark-up of %d ppm to the sum', (ppm, nano) => {
    expect(costNanoUsd(usage({ input: 1000 }), withMarkUp(parseConfigPrice({ input: 1, output: 1 }), ppm))).toBe(nano);
  });

  test('rounds once, after the mark-up', () => {
    // 499 pico-USD are 0 nano-USD, and 20% on 0 is 0; 20% on 499 pico-USD is 598.8, which rounds to 1 nano-USD.
    const price = parseConfigPrice({ input: '0.000499', output: 0 });
    expect(costNanoUsd(usage({ input: 1 }), price)).toBe(0n);
    expect(costNanoUsd(usage({ input: 1 }), withMarkUp(price, 200_000))).toBe(1n);
  });

  test('agrees with exact fractions over 20,000 random calls, in their sum, and from the version text alone', () => {
    const tally = billRandomCalls(20_000, 20261120);
    expect(tally.faults).toEqual([]);
    expect(tally.ties).toBeGreaterThan(0);
    expect(tally.tiered).toBeGreaterThan(2000);
    expect(tally.markedUp).toBeGreaterThan(2000);
    expect(tally.extras).toBeGreaterThan(5000);
    expect(tally.drift < 0n ? -tally.drift : tally.drift).toBeLessThanOrEqual(tally.driftMax);
  });
});

describe('ceilNanoUsd', () => {
  const price = parseConfigPrice({ input: 1, output: 1 });

  test.each([
    [0n, 0, 0n],
    [1n, 0, 1n],
    [1000n, 0, 1n],
    [1001n, 0, 2n],
    [1000n, 1, 2n],
    [1000n, -1_000_000, 0n],
  ])('rounds %p pico at %d ppm up', (pico, ppm, nano) => {
    expect(ceilNanoUsd(pico, withMarkUp(price, ppm))).toBe(nano);
  });
});

describe('parts at prices of their own', () => {
  const part = (input: number, output: number, price_version: string) => ({
    input,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output,
    reasoning: 0,
    price_version,
  });
  const CHEAP = 'config@1_1_1_1_0.0001_0.0001;web_search=10/1000';
  const DEAR = 'config@5_5_5_5_0.0004_0.0004';
  const usage = {
    ...ZERO_USAGE,
    input: 30,
    output: 5,
    extras: { server_tools: { web_search: 1 }, parts: [part(10, 4, CHEAP), part(20, 1, DEAR)] },
  };

  test('parts are summed exactly, with the fees of the whole, and rounded once', () => {
    // 10 × 1000 + 4 × 0.1 + 20 × 5000 + 1 × 0.4 nano-USD, and a search.
    expect(chargedNanoUsd(usage, parsePriceVersion(CHEAP), parsePriceVersion)).toBe(110_001n + 10_000_000n);
  });

  test('must come to the counters', () => {
    const more = { ...usage, input: 31 };
    expect(() => chargedNanoUsd(more, parsePriceVersion(CHEAP), parsePriceVersion)).toThrow('usage input: found 31');
  });
});
