/** Tests that prices of every origin are described without their version text. */
import { expect, test } from 'bun:test';
import { parseConfigPrice } from './config-price.ts';
import { fillPrice, withMarkUp } from './price.ts';
import { parseSetPrice, priceWords } from './price-book.ts';

const RATES = { input: '1.25', output: '10' };
const catalogued = fillPrice({ input: 150_000n, output: 600_000n }, 'catalog:2026-11-19/openai/gpt-4o-mini@beta');

test.each([
  [parseConfigPrice('free'), 'nothing: it is free'],
  [parseConfigPrice(RATES), '$1.25 per million tokens of input and $10 of output, by the configuration'],
  [
    parseConfigPrice({ ...RATES, from: '2026-12-01' }),
    '$1.25 per million tokens of input and $10 of output, by the configuration from 2026-12-01',
  ],
  [
    parseConfigPrice({ ...RATES, from: '2026-12-01T08:00+01:00' }),
    '$1.25 per million tokens of input and $10 of output, by the configuration from 2026-12-01, 07:00:00 UTC',
  ],
  [
    parseSetPrice({ rates: RATES, fromMs: Date.UTC(2026, 10, 22, 8, 1, 2, 345) }),
    '$1.25 per million tokens of input and $10 of output, by the console from 2026-11-22, 08:01:02 UTC',
  ],
  [catalogued, '$0.15 per million tokens of input and $0.6 of output, by the catalogue of 2026-11-19'],
  [
    withMarkUp(catalogued, 125_000),
    '$0.15 per million tokens of input and $0.6 of output and 12.5 % on top, by the catalogue of 2026-11-19',
  ],
  [
    withMarkUp(catalogued, -50_000),
    '$0.15 per million tokens of input and $0.6 of output less 5 %, by the catalogue of 2026-11-19',
  ],
] as const)('price %#', (price, words) => {
  expect(priceWords(price)).toBe(words);
});
