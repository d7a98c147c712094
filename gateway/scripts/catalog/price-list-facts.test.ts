/** Checks what is taken from a published price list, and what is left out. */
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
          input_cost_per_audio_token: 5e-6,
          cache_creation_input_token_cost_above_12hr: 1e-6,
        },
        'm-search-1',
      )?.facts,
    ).toMatchObject({
      inputMax: 128_000,
      outputMax: null,
      modalities: ['text', 'image', 'pdf', 'audio'],
      capabilities: ['tools'],
      feesBeside: ['search', 'audio_input', 'cache_write_12h'],
    });
  });

  test.each<[object, string]>([
    [{ input_cost_per_token: 0 }, 'has a price of 0, which may mean unknown'],
    [{ output_cost_per_token: undefined }, 'has no price of input and output'],
    [{ supported_output_modalities: ['text', 'audio'] }, 'answers in text, audio'],
  ])('gives a reason why %j is unusable', (changes, reason) => {
    expect(read(changes)).toMatchObject({ facts: null, unusable: reason });
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
