/**
 * Tests prices of service tiers: tiers multiply all rates exactly, their versions parse again, and no unknown word has
 * a price.
 */
import { expect, test } from 'bun:test';
import { parseConfigPrice } from './config-price.ts';
import { PriceError } from './money.ts';
import { FREE_PRICE, parsePriceVersion, withMarkUp } from './price.ts';
import { costNanoUsd, pricedWords, priceOfTier } from './price-book.ts';

const PRICE = parseConfigPrice({
  input: 3,
  output: 15,
  cache_read: '0.3',
  tiers: [{ above: 200_000, input: 6, output: 22.5 }],
  per_1000_requests: { web_search: 10 },
  modifiers: { speed: { fast: 2 }, inference_geo: { us: '1.1' }, service_tier: { priority: 1.75, flex: 0.5 } },
});
const USAGE = { input: 1_000, cache_read: 10, cache_write_5m: 0, cache_write_1h: 0, output: 100, reasoning: 0 };

test('a tier multiplies every rate, of long input too, and leaves fees as they are', () => {
  const fast = priceOfTier(PRICE, { speed: 'fast' });
  expect(fast).toMatchObject({ input: 6_000_000n, output: 30_000_000n, cache_read: 600_000n, fees: PRICE.fees });
  expect(fast?.tiers[0]).toMatchObject({
    inputTokensAbove: 200_000,
    rates: { input: 12_000_000n, output: 45_000_000n },
  });
});

test('tiers of several members multiply each other', () => {
  const both = priceOfTier(PRICE, { speed: 'fast', inference_geo: 'us', service_tier: 'auto' });
  expect(both).toMatchObject({ input: 6_600_000n, output: 33_000_000n });
});

test('the version names its tier, and all of its numbers can be parsed', () => {
  const us = priceOfTier(PRICE, { inference_geo: 'us' });
  const version = withMarkUp(us ?? PRICE, 50_000).version;
  expect(version).toStartWith('config*inference_geo=us@3.3_0.33_');
  expect(costNanoUsd(USAGE, parsePriceVersion(version))).toBe(costNanoUsd(USAGE, withMarkUp(us ?? PRICE, 50_000)));
});

test('tiers at the list price, and free prices, change nothing; the same tier is the same object', () => {
  const standard = { service_tier: 'standard', speed: 'standard', inference_geo: 'global' };
  expect(priceOfTier(PRICE, standard)).toBe(PRICE);
  expect(priceOfTier(PRICE, {})).toBe(PRICE);
  expect(priceOfTier(FREE_PRICE, { speed: 'fast' })).toBe(FREE_PRICE);
  expect(priceOfTier(PRICE, { speed: 'fast' })).toBe(priceOfTier(PRICE, { speed: 'fast' }));
});

test('a tier without a price has none, alone or with others, and a rate above the maximum is invalid', () => {
  expect(priceOfTier(PRICE, { speed: 'slow' })).toBeNull();
  expect(priceOfTier(PRICE, { speed: 'fast', inference_geo: 'moon' })).toBeNull();
  const huge = parseConfigPrice({ input: 1_000_000, output: 1, modifiers: { speed: { fast: 2 } } });
  expect(priceOfTier(huge, { speed: 'fast' })).toBeNull();
  expect(pricedWords(PRICE, 'service_tier')).toEqual(['priority', 'flex']);
});

test.each([
  [{ speed: { standard: 2 } }, 'modifiers.speed.standard'],
  [{ speed: { 'two words': 2 } }, 'modifiers.speed.two words'],
  [{ speed: { fast: '2x' } }, 'modifiers.speed.fast'],
])('%j is no modifier', (modifiers, member) => {
  const parse = () => parseConfigPrice({ input: 1, output: 1, modifiers });
  expect(parse).toThrow(PriceError);
  expect(parse).toThrow(member);
});
