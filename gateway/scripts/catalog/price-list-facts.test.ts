/** Tests which facts are taken from a published price list, and which are omitted. */
import { describe, expect, test } from 'bun:test';
import { readPriceList } from './price-list-facts.ts';

const ENTRY = {
  litellm_provider: 'openai',
  mode: 'chat',
  input_cost_per_token: 2e-6,
  output_cost_per_token: 8e-6,
  source: 'page',
};

const read = (changes: object, key = 'm-1') => readPriceList({ [key]: { ...ENTRY, ...changes } })[0];

describe('readPriceList', () => {
  test('takes USD per token exactly, however small', () => {
    const facts = read({ input_cost_per_token: 1.15e-8, cache_read_input_token_cost: 6e-9 })?.facts;
    expect([facts?.price.input, facts?.price.cache_read, facts?.price.output]).toEqual([11_500n, 6_000n, 8_000_000n]);
  });

  test('refuses a price finer than a pico-dollar per token instead of rounding it', () => {
    expect(() => read({ input_cost_per_token: 1.2345678912345e-7 })).toThrow('at most 6 decimal places');
  });

  test('takes a cache price of 0 as not published', () => {
    const price = read({ cache_creation_input_token_cost: 0, cache_creation_input_token_cost_above_1hr: 4e-6 })?.facts
      ?.price;
    expect([price?.cache_write_5m, price?.cache_write_1h]).toEqual([undefined, 4_000_000n]);
  });

  test('keeps long-context prices as ascending tiers and ignores those of batches and priority', () => {
    const facts = read({
      input_cost_per_token_above_272k_tokens: 8e-6,
      output_cost_per_token_above_272k_tokens: 2e-5,
      input_cost_per_token_above_128k_tokens: 4e-6,
      output_cost_per_token_above_128k_tokens: 1e-5,
      input_cost_per_token_above_272k_tokens_priority: 9e-6,
      output_cost_per_token_above_272k_tokens_priority: 9e-5,
      input_cost_per_token_batches: 1e-6,
    })?.facts;
    expect(facts?.tiers.map(({ above, price }) => [above, price.input, price.output])).toEqual([
      [128_000, 4_000_000n, 10_000_000n],
      [272_000, 8_000_000n, 20_000_000n],
    ]);
  });

  test('reads an array of priced ranges: the first is the base price', () => {
    const facts = read({
      input_cost_per_token: undefined,
      output_cost_per_token: undefined,
      tiered_pricing: [
        { input_cost_per_token: 1e-6, output_cost_per_token: 5e-6, range: [0, 32000] },
        { input_cost_per_token: 2e-6, output_cost_per_token: 9e-6, range: [32000, 128000] },
      ],
    })?.facts;
    expect(facts?.price.input).toBe(1_000_000n);
    expect(facts?.tiers.map(({ above }) => above)).toEqual([32_000]);
  });

  test('reads limits, modalities, capabilities and the fees beside tokens', () => {
    expect(
      read(
        {
          max_input_tokens: 128000,
          max_output_tokens: 'many',
          supported_modalities: ['text', 'image', 'audio', 'video'],
          supports_pdf_input: true,
          supports_function_calling: true,
          supports_reasoning: false,
          cache_creation_input_token_cost_above_12hr: 1e-6,
        },
        'm-search-1',
      )?.facts,
    ).toMatchObject({
      inputMax: 128_000,
      outputMax: null,
      modalities: ['text', 'image', 'pdf', 'audio'],
      capabilities: ['tools'],
      feesBeside: ['search', 'cache_write_12h'],
    });
  });

  test.each<[object, string]>([
    [{ input_cost_per_token: 0 }, 'has a price of 0, which may mean unknown'],
    [{ output_cost_per_token: undefined }, 'has no price of input and output'],
    [{ supported_output_modalities: ['text', 'audio'] }, 'answers in text, audio, which has no price'],
  ])('gives a reason why %j is unusable', (changes, reason) => {
    expect(read(changes)).toMatchObject({ facts: null, unusable: reason });
  });

  test('reads the prices of sound and images, in and out and from a cache', () => {
    const facts = read({
      input_cost_per_audio_token: 3.2e-5,
      cache_read_input_audio_token_cost: 5e-8,
      output_cost_per_audio_token: 6.4e-5,
      input_cost_per_image_token: 3e-6,
      supported_output_modalities: ['text', 'audio'],
    })?.facts;
    expect(facts?.price).toMatchObject({
      audio_input: 32_000_000n,
      audio_cache_read: 50_000n,
      audio_output: 64_000_000n,
      image_input: 3_000_000n,
      image_output: undefined,
    });
  });

  test.each<[string, string, object, Record<string, bigint>]>([
    ['anthropic', 'claude', { search_context_size_medium: 0.01 }, { web_fetch: 0n, web_search: 10_000_000n }],
    ['anthropic', 'claude-old', {}, { web_fetch: 0n, web_search: 10_000_000n }],
    ['perplexity', 'perplexity/sonar-deep-research', { search_context_size_medium: 0.005 }, { web_search: 5_000_000n }],
    [
      'perplexity',
      'perplexity/sonar',
      { search_context_size_low: 0.005, search_context_size_high: 0.012 },
      { search_high: 12_000_000n, search_low: 5_000_000n },
    ],
    ['openai', 'gpt', { search_context_size_medium: 0.025 }, {}],
  ])(
    'reads the fees of searches that answers of %s count: %s',
    (litellm_provider, key, search_context_cost_per_query, fees) => {
      const facts = read({ litellm_provider, search_context_cost_per_query }, key)?.facts;
      expect(Object.fromEntries(facts?.fees ?? [])).toEqual(fees);
    },
  );

  test('says that searches are charged beside where the list has no fee for them', () => {
    expect(read({ litellm_provider: 'perplexity' }, 'perplexity/sonar-old')?.facts?.feesBeside).toEqual(['search']);
  });

  test('strips the list’s prefix from ids and passes over other hosts and other modes', () => {
    const list = {
      'gemini/g-1': { ...ENTRY, litellm_provider: 'gemini' },
      'g-2': { ...ENTRY, litellm_provider: 'gemini' },
      e: { ...ENTRY, mode: 'embedding' },
      b: { ...ENTRY, litellm_provider: 'bedrock' },
    };
    expect(readPriceList(list).map(({ provider, id }) => [provider, id])).toEqual([['google', 'g-1']]);
  });
});
