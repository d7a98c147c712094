/** Tests usage.ts: the counters are disjoint, and inconsistent counters are not billed as if they were valid. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseConfigPrice } from '../../../billing/config-price.ts';
import { costNanoUsd } from '../../../billing/price-book.ts';
import type { UsageFlag } from '../../../generation/usage.ts';
import { generatedBytes, readReportedUsage, readUsage, reasoningBytes } from './usage.ts';

const PRICE = parseConfigPrice({ input: 1, output: 5, audio_input: 0, image_output: 0 });
const plain = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

describe('readUsage', () => {
  test('takes cache reads and writes out of the input', () => {
    const prompt_tokens_details = { cached_tokens: 60, cache_write_tokens: 30 };
    expect(readUsage({ ...plain, prompt_tokens_details })?.usage).toEqual({
      input: 10,
      cache_read: 60,
      cache_write_5m: 30,
      cache_write_1h: 0,
      output: 20,
      reasoning: 0,
    });
  });

  test.each(['prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'])(
    'finds the cache reads of hosts that call them %s',
    (name) => {
      expect(readUsage({ ...plain, [name]: 40 })?.usage).toMatchObject({ input: 60, cache_read: 40 });
    },
  );

  test('adds separately counted reasoning, and does not add reasoning that the output includes', () => {
    const completion_tokens_details = { reasoning_tokens: 15 };
    expect(readUsage({ ...plain, completion_tokens_details })?.usage).toMatchObject({ output: 20, reasoning: 15 });
    expect(readUsage({ ...plain, total_tokens: 135, completion_tokens_details })?.usage).toMatchObject({
      output: 35,
      reasoning: 15,
    });
  });

  test('vector 25: thoughts that only the total of Google’s chat endpoint has are output', () => {
    const usage = { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 };
    expect(readUsage(usage)).toMatchObject({ usage: { input: 66, output: 34, reasoning: 28 }, flags: ['sum'] });
  });

  test('adds reasoning that is more than the output where no total speaks against it', () => {
    const extras = { prompt_tokens: 100, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 30 } };
    expect(readUsage(extras)?.usage).toMatchObject({ output: 32, reasoning: 30 });
    expect(readUsage({ ...extras, total_tokens: 102 })?.usage).toMatchObject({ output: 2, reasoning: 2 });
  });

  test('separates audio and images within input and output, and counts audio outside the prompt as input (Mistral)', () => {
    const prompt_tokens_details = { audio_tokens: 30, image_tokens: 20, cached_tokens: 10 };
    const completion_tokens_details = { audio_tokens: 9, image_tokens: 3, reasoning_tokens: 6 };
    expect(readUsage({ ...plain, prompt_tokens_details, completion_tokens_details })?.usage).toMatchObject({
      input: 90,
      cache_read: 10,
      output: 20,
      reasoning: 6,
      extras: { audio_input: 30, image_input: 20, audio_output: 9, image_output: 3 },
    });
    const outside = {
      prompt_tokens: 9,
      completion_tokens: 248,
      total_tokens: 632,
      prompt_tokens_details: { audio_tokens: 375 },
    };
    expect(readUsage(outside)).toMatchObject({
      usage: { input: 384, output: 248, extras: { audio_input: 375 } },
      flags: [],
    });
    const reasoned = { ...outside, total_tokens: 642, completion_tokens_details: { reasoning_tokens: 10 } };
    expect(readUsage(reasoned)).toMatchObject({
      usage: { input: 384, output: 258, reasoning: 10, extras: { audio_input: 375 } },
      flags: [],
    });
    expect(readUsage({ ...outside, total_tokens: 700 })?.flags).toEqual(['sum']);
  });

  test('omits a counter that a provider reports as 0', () => {
    const prompt_tokens_details = { audio_tokens: 0, image_tokens: 0 };
    const found = readUsage({ ...plain, prompt_tokens_details, num_sources_used: 0, server_tool_use: {} })?.usage;
    expect(found).not.toHaveProperty('extras');
  });

  test.each([
    [
      'as reported',
      { cached_tokens: 60, audio_tokens: 30, cached_tokens_details: { audio_tokens: 25 } },
      { audio_input: 5, audio_cache_read: 25 },
    ],
    ['not at all where text may have been', { cached_tokens: 60, audio_tokens: 30 }, { audio_input: 30 }],
    ['what does not fit elsewhere', { cached_tokens: 80, audio_tokens: 30 }, { audio_input: 20, audio_cache_read: 10 }],
    [
      'images too, which leave less of the input',
      { cached_tokens: 60, audio_tokens: 30, image_tokens: 50 },
      { audio_input: 30, image_input: 10 },
    ],
  ])('takes sound for cached: %s', (_, prompt_tokens_details, extras) => {
    expect(readUsage({ ...plain, prompt_tokens_details })?.usage.extras).toEqual(extras);
  });

  test('never counts more audio and images than tokens, nor reasoning twice', () => {
    const prompt_tokens_details = { audio_tokens: 150, image_tokens: 90 };
    const completion_tokens_details = { audio_tokens: 18, image_tokens: 9, reasoning_tokens: 5 };
    expect(readUsage({ ...plain, prompt_tokens_details, completion_tokens_details })?.usage).toMatchObject({
      input: 100,
      output: 20,
      reasoning: 5,
      extras: { audio_input: 100, audio_output: 15 },
    });
  });

  test.each([
    [{ server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } }, { web_search: 2, web_fetch: 1 }],
    [{ search_context_size: 'low' }, { search_low: 1 }],
    [{ search_context_size: 'high', num_search_queries: 7 }, { web_search: 7 }],
    [{ num_sources_used: 4 }, { search_source: 4 }],
    [{ search_context_size: 'vast', num_search_queries: -1, num_sources_used: 10_001 }, undefined],
  ])('counts tools that ran upstream, as hosts say it: %j', (stated, server_tools) => {
    expect(readUsage({ ...plain, ...stated })?.usage.extras?.server_tools).toEqual(server_tools);
  });

  test.each([
    [null],
    [undefined],
    ['usage'],
    [[plain]],
    [{}],
    [{ ...plain, prompt_tokens: -1 }],
    [{ ...plain, completion_tokens: 1.5 }],
    [{ ...plain, prompt_tokens: '100' }],
    [{ ...plain, completion_tokens: 2 ** 53 }],
    [{ ...plain, completion_tokens: 10_000_001 }],
    [{ prompt_tokens: 3 }],
  ])('returns null for an invalid main counter: %j', (usage) => {
    expect(readUsage(usage)).toBeNull();
  });

  test('takes details that do not hold for absent', () => {
    const odd = {
      ...plain,
      prompt_tokens_details: { cached_tokens: -4, cache_write_tokens: 'x' },
      completion_tokens_details: [],
    };
    expect(readUsage(odd)?.usage).toMatchObject({ input: 100, cache_read: 0, output: 20, reasoning: 0 });
  });

  const reasoned = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } });
  test.each([
    [plain, []],
    [{ ...plain, total_tokens: null }, []],
    [{ ...plain, total_tokens: 121 }, ['sum']],
    [{ ...plain, total_tokens: 119, ...reasoned(5) }, ['sum']],
    [{ ...plain, total_tokens: 125, ...reasoned(5) }, []],
    [{ ...plain, total_tokens: 150, ...reasoned(30) }, []],
    [{ ...plain, ...reasoned(20) }, []],
    [{ ...plain, ...reasoned(21) }, ['reasoning']],
    [{ ...plain, total_tokens: null, ...reasoned(21) }, ['reasoning']],
    [{ ...plain, total_tokens: 1, ...reasoned(21) }, ['sum', 'reasoning']],
    [{ ...plain, cached_tokens: 100 }, []],
    [{ ...plain, cached_tokens: 101 }, ['cached']],
    [{ ...plain, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 41 } }, ['cached']],
  ])('flags the anomaly of %j: %p', (usage, flags) => {
    expect(readUsage(usage)?.flags).toEqual(flags as UsageFlag[]);
    expect(readReportedUsage({ x_groq: { usage } })?.flags).toEqual(flags as UsageFlag[]);
  });

  test('returns non-negative integers that sum to the prompt, whatever a provider reports', () => {
    const count = fc.oneof(fc.nat(1_000_000), fc.integer(), fc.double(), fc.constant(null), fc.string());
    const usage = fc.record({
      prompt_tokens: fc.nat(1_000_000),
      completion_tokens: fc.nat(1_000_000),
      total_tokens: count,
      cached_tokens: count,
      prompt_tokens_details: fc.record({
        cached_tokens: count,
        cache_write_tokens: count,
        audio_tokens: count,
        image_tokens: count,
        cached_tokens_details: fc.record({ audio_tokens: count }),
      }),
      completion_tokens_details: fc.record({ reasoning_tokens: count, audio_tokens: count, image_tokens: count }),
      num_search_queries: count,
      num_sources_used: count,
    });
    fc.assert(
      fc.property(usage, (given) => {
        const found = readUsage(given)?.usage;
        if (found === undefined) throw new Error('main counters hold, so usage must be found');
        const { extras = {}, ...counters } = found;
        const sent = found.input + found.cache_read + found.cache_write_5m;
        expect([given.prompt_tokens, given.prompt_tokens + (extras.audio_input ?? 0)]).toContain(sent);
        expect(Object.values(counters).every((value) => Number.isSafeInteger(value) && value >= 0)).toBe(true);
        // Any reported usage can be billed: no part exceeds its whole.
        expect(costNanoUsd(found, PRICE)).toBeGreaterThanOrEqual(0n);
        expect(found.reasoning).toBeLessThanOrEqual(found.output);
        expect(found.output).toBeGreaterThanOrEqual(given.completion_tokens);
      }),
    );
  });
});

test.each([
  [{ reasoning_content: 'four', reasoning: 'four' }, 4],
  [{ reasoning_content: '', reasoning: 'four' }, 4],
  [{ reasoning_details: [{ type: 'reasoning.text', text: 'four' }] }, 4],
  [{ reasoning: 'four', reasoning_details: [{ type: 'reasoning.text', text: 'four' }] }, 4],
  [{ reasoning_content: '', content: '' }, 0],
])('the reasoning of %j is counted once', (message, bytes) => {
  expect([generatedBytes(message), reasoningBytes(message)]).toEqual([bytes, bytes]);
});
