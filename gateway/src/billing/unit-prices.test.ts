/** Tests prices per unit: their configured form, their steps in a version text, and which price an image has. */
import { expect, test } from 'bun:test';
import { ZERO_USAGE } from '../generation/usage.ts';
import { parseConfigPrice } from './config-price.ts';
import { parsePriceVersion, withMarkUp } from './price.ts';
import { costNanoUsd, priceOfTier, priceWords } from './price-book.ts';
import { chooseHold } from './reserve.ts';
import { parseUnitPrices, unpricedUnits, writeUnitPrices } from './unit-prices.ts';

const PER_UNIT = {
  image: { '1024x1024/high': 0.17, '1024x1024': '0.04', low: 0.011 },
  second: 0.0001,
  character: '0.000015',
  search: 0.002,
};
const PRICE = parseConfigPrice({ input: 0, output: 0, per_unit: PER_UNIT });

test('a version states each price, so that a charge can be recomputed', () => {
  expect(PRICE.version).toBe(
    'config@0_0_0_0_0_0;image:1024x1024=0.04/1;image:1024x1024/high=0.17/1;image:low=0.011/1;second=0.0001/1;character=0.000015/1;search=0.002/1',
  );
  const marked = withMarkUp(PRICE, 50_000);
  expect(parsePriceVersion(PRICE.version)).toEqual(PRICE);
  expect(parsePriceVersion(marked.version)).toEqual(marked);
  const both = parseConfigPrice({
    input: 1,
    output: 2,
    per_1000_requests: { web_search: 10 },
    per_unit: { second: 1 },
  });
  expect(both.version).toEndWith(';web_search=10/1000;second=1/1');
  expect(parsePriceVersion(both.version)).toEqual(both);
});

test.each([
  ['a unit of another name', 'config@1_1_1_1_1_1;page=1/1'],
  ['a kind of a second', 'config@1_1_1_1_1_1;second:a=1/1'],
  ['a unit twice', 'config@1_1_1_1_1_1;second=1/1;second=2/1'],
  ['a unit before a fee', 'config@1_1_1_1_1_1;second=1/1;web_search=1/1000'],
  ['a price of 13 decimals', 'config@1_1_1_1_1_1;second=0.0000000000001/1'],
])('a version with %s is refused', (_, version) => {
  expect(() => parsePriceVersion(version)).toThrow('found');
});

const cost = (extras: object) => costNanoUsd({ ...ZERO_USAGE, extras }, PRICE);

test('each unit has its own price, exact to the nano-dollar', () => {
  expect(cost({ seconds: 4 })).toBe(400_000n);
  expect(cost({ characters: 123 })).toBe(1_845_000n);
  expect(cost({ search_units: 3 })).toBe(6_000_000n);
  const tiny = parseConfigPrice({ input: 0, output: 0, per_unit: { second: '0.000000000499' } });
  expect(costNanoUsd({ ...ZERO_USAGE, extras: { seconds: 1 } }, tiny)).toBe(0n);
  expect(costNanoUsd({ ...ZERO_USAGE, extras: { seconds: 2 } }, tiny)).toBe(1n);
});

test('an image costs as its size and quality, else as one of them, else as the dearest', () => {
  expect(cost({ images: 2, image_kind: '1024x1024/high' })).toBe(340_000_000n);
  expect(cost({ images: 1, image_kind: '1024x1024/medium' })).toBe(40_000_000n);
  expect(cost({ images: 1, image_kind: '256x256/low' })).toBe(11_000_000n);
  expect(cost({ images: 1, image_kind: '256x256/high' })).toBe(170_000_000n);
  expect(cost({ images: 1 })).toBe(170_000_000n);
  const all = parseConfigPrice({ input: 0, output: 0, per_unit: { image: 0.04 } });
  expect(costNanoUsd({ ...ZERO_USAGE, extras: { images: 3, image_kind: 'a/b' } }, all)).toBe(120_000_000n);
});

test('a hold covers the units that a request asks for, with the mark-up', () => {
  const extras = { mediaInput: false, mediaOutput: false, toolRequests: new Map(), units: { images: 2, seconds: 10 } };
  const request = { mode: 'adaptive', stream: false, inputTokens: 0, outputTokensMax: 0, extras } as const;
  expect(chooseHold({ ...request, price: PRICE }).amount).toBe(341_000_000n);
  expect(chooseHold({ ...request, price: withMarkUp(PRICE, 100_000) }).amount).toBe(375_100_000n);
  expect(chooseHold({ ...request, price: parseConfigPrice({ input: 0, output: 0 }) }).amount).toBe(0n);
});

test('a unit without a price is named, and no bill is made of an impossible count', () => {
  expect(unpricedUnits({ seconds: 1, images: 1 }, parseUnitPrices({ image: 1 }))).toEqual(['per_unit.second']);
  expect(() => cost({ seconds: 1.5 })).toThrow('usage seconds: found 1.5, expected a whole number, 0 or more');
  expect(() => cost({ characters: -1 })).toThrow('usage characters: found -1');
});

test('the prices are written as they are configured, in words, and in every tier', () => {
  expect(writeUnitPrices(PRICE.units ?? new Map())).toEqual({
    image: { '1024x1024': '0.04', '1024x1024/high': '0.17', low: '0.011' },
    second: '0.0001',
    character: '0.000015',
    search: '0.002',
  });
  expect(priceWords(PRICE)).toContain(
    '$0.17 per image, $0.0001 per second, $0.000015 per character, $0.002 per search',
  );
  const tiered = parseConfigPrice({ input: 1, output: 1, per_unit: { second: 1 }, modifiers: { speed: { fast: 2 } } });
  expect(priceOfTier(tiered, { speed: 'fast' })?.units).toEqual(tiered.units);
});

test.each([
  [{ page: 1 }, 'per_unit.page: found an unknown unit, expected one of image, second, character, search'],
  [{ image: { 'A B': 1 } }, 'per_unit.image.A B: found "A B", expected a size and quality: 1024x1024/high'],
  [{ second: '-1' }, 'per_unit.second: found "-1", expected USD per unit'],
  [{ second: 1001 }, 'per_unit.second: found 1001, expected USD per unit'],
])('%j is refused', (per_unit, message) => {
  expect(() => parseUnitPrices(per_unit as Parameters<typeof parseUnitPrices>[0])).toThrow(message);
});
