/** Tests the snapshot that ships: its models, their names and prices. */
import { describe, expect, test } from 'bun:test';
import { PRICE_MEMBERS, type PriceTier } from '../billing/price.ts';
import { costNanoUsd, priceOfTier } from '../billing/price-book.ts';
import { EXTRA_COUNTERS, type TierWords, type Usage, ZERO_USAGE } from '../generation/usage.ts';
import { findModel, listModels, listModifiedModels } from './catalog.ts';
import { CATALOG_PROVIDERS } from './catalog-model.ts';
import { ENDPOINT_MODELS } from './endpoint-models.ts';
import snapshot from './models.generated.json' with { type: 'json' };

const all = CATALOG_PROVIDERS.flatMap((provider) => listModels(provider));
const added = new Set(ENDPOINT_MODELS.models.map(({ id }) => id));
const models = all.filter(({ id }) => !added.has(id));

describe('findModel', () => {
  test('finds a model by its id and by its dated names', () => {
    expect(findModel('openai', 'gpt-4.1')?.id).toBe('gpt-4.1');
    expect(findModel('openai', 'gpt-4.1-2025-04-14')?.id).toBe('gpt-4.1');
    expect(findModel('anthropic', 'claude-sonnet-4-5-20250929')?.id).toBe('claude-sonnet-4-5');
  });

  test('finds every listed name and alias under its own provider, and each name once', () => {
    const names = all.flatMap((model) => [model.id, ...model.aliases].map((name) => ({ name, model })));
    for (const { name, model } of names) expect(findModel(model.provider, name)).toBe(model);
    expect(new Set(names.map(({ name, model }) => `${model.provider} ${name}`)).size).toBe(names.length);
  });

  test.each([
    ['openai', 'gpt-4.1-2025-04-15'],
    ['openai', 'gpt-4o-2024-05-13'],
    ['openai', 'gpt-4.1-'],
    ['openai', 'GPT-4.1'],
    ['openai', 'gpt-4.1 '],
    ['openai', ''],
    ['openai', '__proto__'],
    ['anthropic', 'claude-sonnet-4-5-20990101'],
    ['anthropic', 'gpt-4.1'],
    ['constructor', 'name'],
  ])('does not guess a price for %s %p', (provider, name) => {
    expect(findModel(provider, name)).toBeNull();
  });
});

test('models of other endpoints have their vendor’s price, moderations none', () => {
  expect(all.length - models.length).toBe(added.size);
  const versionOf = (id: string) => findModel('openai', id)?.price.version;
  expect(versionOf('text-embedding-3-small')).toBe(
    'catalog:2026-11-23/openai/text-embedding-3-small@0.02_0.02_0.02_0.02_0_0',
  );
  expect(versionOf('omni-moderation-2024-09-26')).toBe('catalog:2026-11-23/openai/omni-moderation-latest@0_0_0_0_0_0');
});

/** Nano-USD of the usage at the catalogue's price. */
function costOf(id: string, usage: Partial<Usage>): bigint {
  const price = findModel('openai', id)?.price;
  if (price === undefined) throw new Error(`${id} has no price`);
  return costNanoUsd({ ...ZERO_USAGE, ...usage }, price);
}

test.each<[string, Partial<Usage>, bigint]>([
  // By hand from the vendor's pages, in USD per million tokens or per unit.
  ['gpt-image-1-mini', { input: 50, output: 272, extras: { image_output: 272, images: 1 } }, 2_276_000n],
  ['gpt-image-2', { input: 350, output: 1_000, extras: { image_input: 300, image_output: 1_000 } }, 32_650_000n],
  ['gpt-image-2.6-sunburst', { input: 50, cache_read: 100, output: 10 }, 750_000n],
  ['tts-1', { extras: { characters: 4_096 } }, 61_440_000n],
  ['tts-1-hd', { extras: { characters: 3 } }, 90_000n],
  ['gpt-4o-mini-tts-2025-12-15', { input: 14, output: 101, extras: { audio_output: 101, characters: 60 } }, 1_220_400n],
  ['whisper-1', { extras: { seconds: 61 } }, 6_100_000n],
  ['gpt-transcribe', { extras: { seconds: 60 } }, 4_500_000n],
  ['gpt-4o-transcribe', { input: 34, output: 9, extras: { audio_input: 30, seconds: 3 } }, 280_000n],
  ['gpt-4o-mini-transcribe', { input: 34, output: 9, extras: { audio_input: 30, seconds: 3 } }, 140_000n],
])('%s costs what its vendor publishes', (id, usage, nanoUsd) => {
  expect(costOf(id, usage)).toBe(nanoUsd);
});

test('no model of the list was shut down by its date', () => {
  const { version, models } = ENDPOINT_MODELS;
  expect(models.filter(({ shutdown }) => shutdown !== undefined && shutdown <= version)).toEqual([]);
});

describe('the snapshot', () => {
  test('states its date and the source of each fact', () => {
    expect(snapshot.version).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(snapshot.sources.length).toBeGreaterThan(0);
    for (const source of snapshot.sources) {
      expect(source.name).not.toBe('');
      expect(source.version).not.toBe('');
      expect(['MIT', 'Apache-2.0']).toContain(source.licence);
    }
  });

  test('has at least 150 models, and some of every provider', () => {
    expect(models.length).toBeGreaterThanOrEqual(150);
    expect(models.length).toBe(snapshot.models.length);
    for (const provider of CATALOG_PROVIDERS) expect(listModels(provider).length).toBeGreaterThan(0);
    expect(listModels('nobody')).toEqual([]);
  });

  test('holds one model per line, sorted by provider and id', async () => {
    const lines = (await Bun.file(`${import.meta.dir}/models.generated.json`).text()).trimEnd().split('\n');
    expect(lines.length).toBe(models.length + 2);
    const keys = snapshot.models.map(({ provider, id }) => `${provider}\u0000${id}`);
    expect(keys).toEqual([...keys].sort());
    expect(keys[0]).toBe(`${JSON.parse(lines[1]?.replace(/,$/, '') ?? '').provider}\u0000${models[0]?.id}`);
  });

  test('writes money only as decimal text', () => {
    for (const { price, tiers } of snapshot.models as { price: object; tiers?: object[] }[]) {
      const tierPrices = (tiers ?? []).flatMap((tier) => Object.entries(tier).filter(([member]) => member !== 'above'));
      for (const [, written] of [...Object.entries(price), ...tierPrices]) {
        expect(written).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]{0,5}[1-9])?$/);
      }
    }
  });

  test('prices every token of every model above 0', () => {
    for (const { price } of models) {
      for (const each of [price, ...price.tiers.map((tier) => tier.rates)]) {
        for (const member of [...PRICE_MEMBERS, ...EXTRA_COUNTERS]) expect(each[member]).toBeGreaterThan(0n);
      }
    }
  });

  test('never prices a cache read above plain input, nor a longer tier below a shorter one', () => {
    for (const { price } of models) {
      expect(price.cache_read).toBeLessThanOrEqual(price.input);
      let below: PriceTier = { inputTokensAbove: 0, rates: price };
      for (const tier of price.tiers) {
        expect(tier.inputTokensAbove).toBeGreaterThan(below.inputTokensAbove);
        expect(tier.rates.input).toBeGreaterThanOrEqual(below.rates.input);
        expect(tier.rates.output).toBeGreaterThanOrEqual(below.rates.output);
        below = tier;
      }
    }
  });

  test('holds no model that was shut down by its date', () => {
    for (const { shutdown } of models) expect(shutdown === null || shutdown > snapshot.version).toBe(true);
  });

  test.each([
    ['openai', 'gpt-5'],
    ['openai', 'gpt-5-mini'],
    ['openai', 'gpt-5.5'],
    ['openai', 'gpt-4.1'],
    ['openai', 'gpt-4.1-mini'],
    ['openai', 'gpt-4o'],
    ['anthropic', 'claude-opus-4-8'],
    ['anthropic', 'claude-sonnet-4-6'],
    ['anthropic', 'claude-haiku-4-5'],
    ['anthropic', 'claude-opus-5-5'],
    ['google', 'gemini-2.5-pro'],
    ['google', 'gemini-2.5-flash'],
    ['google', 'gemini-3.1-pro-preview'],
    ['mistral', 'mistral-large-latest'],
    ['mistral', 'mistral-medium-latest'],
    ['deepseek', 'deepseek-v4-pro'],
    ['xai', 'grok-4.7'],
    ['groq', 'openai/gpt-oss-120b'],
    ['moonshot', 'kimi-k3'],
    ['zai', 'glm-5.3'],
  ])('lists %s %s with its limits', (provider, id) => {
    const model = findModel(provider, id);
    expect(model?.inputTokensMax).toBeGreaterThan(100_000);
    expect(model?.outputTokensMax).toBeGreaterThan(8_000);
  });

  test('keeps the published prices of well-known models', () => {
    const version = (provider: string, id: string) => findModel(provider, id)?.price.version.split('@')[1];
    expect(version('openai', 'gpt-4.1')).toBe('2_0.5_2_2_8_8');
    expect(version('openai', 'gpt-5-mini')).toBe('0.25_0.025_0.25_0.25_2_2');
    expect(version('anthropic', 'claude-sonnet-4-6')).toBe('3_0.3_3.75_6_15_15;web_fetch=0/1000;web_search=10/1000');
    expect(version('openai', 'gpt-audio')).toBe(
      '2.5_2.5_2.5_2.5_10_10,audio_input=32,audio_cache_read=32,audio_output=64',
    );
    expect(version('google', 'gemini-2.5-flash')).toBe('0.3_0.03_0.3_0.3_2.5_2.5,audio_input=1,audio_cache_read=0.1');
    expect(version('perplexity', 'sonar')).toBe(
      '1_1_1_1_1_1;search_high=12/1000;search_low=5/1000;search_medium=8/1000',
    );
    expect(version('google', 'gemini-2.5-pro')).toEndWith(';>200000=2.5_0.25_2.5_2.5_15_15');
  });

  test('has the known restrictions of each Claude family', () => {
    expect(findModel('anthropic', 'claude-sonnet-4-6')?.gates?.sampling).toBe(true);
    expect(findModel('anthropic', 'claude-opus-5')?.gates).toEqual({
      sampling: false,
      thinking: ['adaptive', 'enabled', 'disabled'],
      effort: ['low', 'medium', 'high', 'xhigh', 'max'],
      effortMaxWhenDisabled: 'high',
      forcedToolChoice: true,
    });
    expect(findModel('anthropic', 'claude-opus-5-5')?.gates?.forcedToolChoice).toBe(false);
    expect(findModel('openai', 'gpt-5')?.gates).toBeNull();
  });
});

describe('tiers', () => {
  const inputOf = (provider: string, id: string, words: TierWords) => {
    const price = findModel(provider, id)?.price;
    return price === undefined ? undefined : priceOfTier(price, words)?.input;
  };

  /** As published by the vendors, USD per million input tokens. */
  test.each([
    ['anthropic', 'claude-opus-5', { speed: 'fast' }, 10],
    ['anthropic', 'claude-opus-5-5', { speed: 'fast' }, 8],
    ['anthropic', 'claude-sonnet-4-6', { inference_geo: 'us' }, 3.3],
    ['anthropic', 'claude-haiku-4-5', { service_tier: 'priority' }, 1],
    ['openai', 'gpt-5.5', { service_tier: 'priority' }, 12.5],
    ['openai', 'gpt-5.4-mini', { service_tier: 'fast' }, 1.5],
    ['openai', 'gpt-5-mini', { service_tier: 'priority' }, 0.45],
    ['openai', 'gpt-4.1', { service_tier: 'priority' }, 3.5],
    ['openai', 'gpt-5-nano', { service_tier: 'flex' }, 0.025],
  ] as const)('%s %s %j', (provider, id, words, usd) => {
    expect(inputOf(provider, id, words)).toBe(BigInt(Math.round(usd * 1_000_000)));
  });

  test('have no price if no source has one', () => {
    expect(inputOf('anthropic', 'claude-haiku-4-5', { speed: 'fast' })).toBeUndefined();
    expect(inputOf('anthropic', 'claude-haiku-4-5', { inference_geo: 'us' })).toBeUndefined();
    expect(inputOf('openai', 'gpt-5-nano', { service_tier: 'priority' })).toBeUndefined();
    expect(inputOf('openai', 'gpt-5', { service_tier: 'scale' })).toBeUndefined();
  });

  test('are listed for models of the catalog', () => {
    const modified = models.filter(({ price }) => price.modifiers !== undefined).map(({ id }) => id);
    const unknown = listModifiedModels().filter(
      (name) => !models.some(({ provider, id }) => `${provider}/${id}` === name),
    );
    expect([unknown, modified.length > 30]).toEqual([[], true]);
  });
});
