/** Tests how a model's facts and prices are displayed, and how models are found. */
import { describe, expect, test } from 'bun:test';
import {
  contextText,
  findModels,
  foundText,
  type ModelView,
  type PriceView,
  rateOrder,
  rateText,
  versionAt,
} from './model-facts.ts';

const price = (given: Partial<PriceView>): PriceView => ({
  version: 'v',
  from: null,
  free: false,
  input: '3',
  output: '15',
  cache_read: null,
  cache_write_5m: null,
  cache_write_1h: null,
  reasoning: null,
  source: 'catalogue',
  ...given,
});
const model = (name: string, given: Partial<ModelView> = {}): ModelView => ({
  name,
  aliases: [],
  protocols: ['chat'],
  targets: [],
  display_name: null,
  context_tokens: null,
  output_tokens_max: null,
  capabilities: [],
  price: null,
  prices: [],
  source: 'file',
  keys: 0,
  ...given,
});

test('formats contexts in round numbers', () => {
  expect([null, 512, 8_192, 200_000, 1_048_576].map(contextText)).toEqual(['–', '512', '8.2K', '200K', '1.05M']);
});

test('counts found models', () => {
  expect([foundText(308, 308), foundText(12, 1_308), foundText(1, 1)]).toEqual([
    '308 models',
    '12 of 1,308 models',
    '1 model',
  ]);
});

test('formats a rate, free and unpriced', () => {
  expect([rateText(price({}), 'output'), rateText(price({ free: true }), 'input'), rateText(null, 'input')]).toEqual([
    '15',
    'Free',
    'Unpriced',
  ]);
  expect(rateText(price({}), 'cache_read')).toBe('–');
  expect([rateOrder(null, 'input'), rateOrder(price({ free: true }), 'input'), rateOrder(price({}), 'input')]).toEqual([
    -1, 0, 3,
  ]);
});

describe('versionAt', () => {
  const prices = [
    price({ version: 'c', from: '2027-01-01T00:00:00Z' }),
    price({ version: 'b', from: '2026-11-01T00:00:00Z' }),
    price({ version: 'a' }),
  ];
  test.each([
    ['2026-10-31T23:59:59Z', 'a'],
    ['2026-11-01T00:00:00Z', 'b'],
    ['2027-06-01T00:00:00Z', 'c'],
  ])('%s is %s', (at, version) => {
    expect(versionAt(prices, Date.parse(at))?.version).toBe(version);
  });
  test('no version applies before the first', () => {
    expect(versionAt(prices.slice(0, 2), Date.parse('2026-01-01T00:00:00Z'))).toBeNull();
  });
});

test('finds models that contain every word', () => {
  const models = [
    model('sonnet', { targets: [{ provider: 'anthropic', model: 'claude' }] }),
    model('gpt', { aliases: ['fast'] }),
  ];
  const found = (text: string) => findModels(models, text).map(({ name }) => name);
  expect([found(''), found('CLAUDE anthropic'), found('fast'), found('claude fast')]).toEqual([
    ['sonnet', 'gpt'],
    ['sonnet'],
    ['gpt'],
    [],
  ]);
});
