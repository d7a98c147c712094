/** Tests the cost of batches: equal to an independent sum over their answers, and to what their record alone says. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseConfigPrice } from '../../billing/config-price.ts';
import { type Price, parsePriceVersion, withMarkUp } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import { findModel } from '../../catalog/catalog.ts';
import { type Usage, type UsagePart, ZERO_USAGE } from '../../generation/usage.ts';
import { UPSTREAM_PROTOCOLS } from '../../protocols/registry.ts';
import { readLines } from '../../wire/json-lines.ts';
import { BatchSum } from './batch-cost.ts';
import { findTier, KeptPrices, listBatchPrices } from './batch-prices.ts';
import { readOutput, startTally } from './read-output.ts';

/** Pico-USD per token as written, above 1,000 input tokens twice as much. */
const RATES = {
  small: { input: 1_000_000n, cache_read: 100_000n, output: 3_000_000n, search: 10_000n },
  large: { input: 7_000_001n, cache_read: 700_003n, output: 21_000_007n, search: 10_000n },
} as const;
type Model = keyof typeof RATES;
const LONG = 1_000;
const MARK_UP_PPM = 50_000;

const usd = (pico: bigint) => `${pico / 1_000_000n}.${String(pico % 1_000_000n).padStart(6, '0')}`;

function priceOf(model: Model): Price {
  const rates = RATES[model];
  const of = (times: bigint) => ({
    input: usd(rates.input * times),
    cache_read: usd(rates.cache_read * times),
    output: usd(rates.output * times),
  });
  const written = { ...of(1n), tiers: [{ above: LONG, ...of(2n) }], per_1000_requests: { web_search: '10' } };
  return withMarkUp(parseConfigPrice(written), MARK_UP_PPM);
}

const kept = (['small', 'large'] as const).map((model) => ({ model, tier: {}, version: priceOf(model).version }));

interface Answer {
  readonly model: Model;
  readonly input: number;
  readonly cache_read: number;
  readonly output: number;
  readonly searches: number;
}

const count = fc.integer({ min: 0, max: 2_000 });
const answers = fc.array(
  fc.record<Answer>({
    model: fc.constantFrom('small', 'large'),
    input: count,
    cache_read: count,
    output: count,
    searches: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 40 },
);

/** Units of USD × 10⁻¹⁸. */
function exactly({ model, input, cache_read, output, searches }: Answer): bigint {
  const rates = RATES[model];
  const times = input + cache_read > LONG ? 2n : 1n;
  const tokens = BigInt(input) * rates.input + BigInt(cache_read) * rates.cache_read + BigInt(output) * rates.output;
  const fees = BigInt(searches) * 10_000_000_000n;
  return (tokens * times + fees) * BigInt(1_000_000 + MARK_UP_PPM);
}

function usageOf({ input, cache_read, output, searches }: Answer): Usage {
  const usage = { ...ZERO_USAGE, input, cache_read, output };
  return searches === 0 ? usage : { ...usage, extras: { server_tools: { web_search: searches } } };
}

test('a tool may have any name', () => {
  const sum = new BatchSum(new KeptPrices(kept, null));
  const usage = { ...ZERO_USAGE, extras: { server_tools: { constructor: 2 } } };
  for (const model of ['small', 'large']) sum.add({ usage, model, tier: undefined });
  expect(sum.end()).toMatchObject({ usage: { extras: { server_tools: { constructor: 4 } } }, cost: 0n });
});

const NANO = 10n ** 9n;

test('the cost is the exact sum over all answers, rounded once; the record alone gives it again', () => {
  fc.assert(
    fc.property(answers, (list) => {
      const sum = new BatchSum(new KeptPrices(kept, null));
      for (const answer of list) sum.add({ usage: usageOf(answer), model: answer.model, tier: undefined });
      const { usage, price_version, cost } = sum.end();
      const exact = list.reduce((total, answer) => total + exactly(answer), 0n);
      expect(cost).toBe((exact + NANO / 2n) / NANO);
      expect(usage.input).toBe(list.reduce((total, { input }) => total + input, 0));
      expect(usage.output).toBe(list.reduce((total, { output }) => total + output, 0));
      if (price_version === null) expect(list).toEqual([]);
      else expect(chargedNanoUsd(usage, parsePriceVersion(price_version), parsePriceVersion)).toBe(cost);
    }),
    { numRuns: 300 },
  );
});

test('answers at one price are one sum without parts', () => {
  const sum = new BatchSum(new KeptPrices(kept, null));
  for (let at = 0; at < 3; at++) sum.add({ usage: { ...ZERO_USAGE, input: 400, output: 5 }, model: 'small', tier: {} });
  const { usage, price_version } = sum.end();
  expect(usage).toEqual({ ...ZERO_USAGE, input: 1_200, output: 15 });
  expect(price_version).not.toContain('>');
});

test('the runs of an answer are charged at the prices of their models, with their media', () => {
  const run = (model: string, input: number): UsagePart => ({
    ...ZERO_USAGE,
    input,
    model,
    extras: { image_input: 1 },
  });
  const parts = [run('small', 5), run('large', 7)];
  const sum = new BatchSum(new KeptPrices(kept, null));
  sum.add({ usage: { ...ZERO_USAGE, input: 12, extras: { image_input: 2, parts } }, model: 'small', tier: {} });
  const { usage } = sum.end();
  expect(usage.extras?.image_input).toBe(2);
  expect(usage.extras?.parts?.map(({ input, extras }) => [input, extras?.image_input])).toEqual([
    [5, 1],
    [7, 1],
  ]);
});

describe('the price of a batch', () => {
  const list = parseConfigPrice({ input: '2', output: '8' });
  const versions = (price: Price, provider: string | null) =>
    listBatchPrices({ catalog: provider === null ? null : { provider, model: 'm' } }, price).map(
      (one) => one.price.version,
    );

  test('is half of the list price at OpenAI and Anthropic, and the list price elsewhere', () => {
    expect(versions(list, 'openai')).toEqual(['config*service_tier=batch@1_1_1_1_4_4']);
    expect(versions(list, 'anthropic')).toEqual(['config*service_tier=batch@1_1_1_1_4_4']);
    expect(versions(list, 'groq')).toEqual([list.version]);
    expect(versions(list, null)).toEqual([list.version]);
  });

  test('is what the model’s own price says', () => {
    const own = parseConfigPrice({ input: '2', output: '8', modifiers: { service_tier: { batch: '0.75' } } });
    expect(versions(own, 'openai')).toEqual(['config*service_tier=batch@1.5_1.5_1.5_1.5_6_6']);
    expect(versions(parseConfigPrice('free'), 'openai')).toEqual(['free@0_0_0_0_0_0']);
  });

  test('knows the tiers that an answer may state besides', () => {
    const model = findModel('anthropic', 'claude-opus-4-6');
    if (model === null) throw new Error('the catalogue has no such model');
    const prices = listBatchPrices({ catalog: { provider: 'anthropic', model: 'claude-opus-4-6' } }, model.price);
    expect(findTier(prices, { service_tier: 'batch', inference_geo: 'us' })?.price.version).toContain(
      '*service_tier=batch*inference_geo=us@',
    );
    expect(findTier(prices, { inference_geo: 'global' })?.tier).toEqual({});
    expect(findTier(prices, { inference_geo: 'mars' })).toBeUndefined();
  });

  test('is found by dated names, and for an unknown model it is the most expensive', () => {
    const prices = new KeptPrices(kept, null);
    expect(prices.find('small-2026-01-01', undefined).version).toBe(kept[0]?.version ?? '');
    expect(prices.find('tiny', undefined).version).toBe(kept[1]?.version ?? '');
    expect(prices.find(null, { inference_geo: 'us' }).version).toBe(kept[1]?.version ?? '');
  });
});

describe('the output', () => {
  async function* chunks(text: string) {
    yield Buffer.from(text);
  }
  const readAll = async (
    protocol: 'chat' | 'messages' | 'responses' | 'embeddings' | 'completions',
    ...lines: unknown[]
  ) => {
    const tally = startTally(new BatchSum(new KeptPrices(kept, null)));
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    await readOutput(readLines(chunks(text), 1_000_000), UPSTREAM_PROTOCOLS[protocol], 100, tally);
    return { ...tally, ...tally.sum.end() };
  };
  const chat = (usage: object | undefined, status_code = 200) => ({
    custom_id: 'a',
    error: null,
    response: {
      status_code,
      body: { model: 'small', choices: [{ index: 0, message: { content: 'four' }, finish_reason: 'stop' }], usage },
    },
  });

  test('of OpenAI is added up; errors use nothing', async () => {
    const found = await readAll(
      'chat',
      chat({ prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } }),
      chat({ prompt_tokens: 1, completion_tokens: 2 }),
      { custom_id: 'c', response: { status_code: 429, body: { error: { message: 'no' } } }, error: null },
      { custom_id: 'd', response: null, error: { code: 'batch_expired', message: 'late' } },
    );
    expect(found).toMatchObject({ answers: 2, counted: 0, usage: { input: 7, cache_read: 4, output: 5 } });
  });

  test('of Anthropic is added up; what did not succeed uses nothing', async () => {
    const message = {
      type: 'message',
      model: 'large',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 8, output_tokens: 2, cache_creation_input_tokens: 5, service_tier: 'batch' },
    };
    const found = await readAll(
      'messages',
      { custom_id: 'a', result: { type: 'succeeded', message } },
      { custom_id: 'b', result: { type: 'errored', error: { type: 'invalid_request' } } },
      { custom_id: 'c', result: { type: 'canceled' } },
      { custom_id: 'd', result: { type: 'expired' } },
    );
    expect(found).toMatchObject({ answers: 1, counted: 0, usage: { input: 8, cache_write_5m: 5, output: 2 } });
  });

  test.each([
    [
      'responses',
      {
        object: 'response',
        status: 'completed',
        model: 'small',
        output: [],
        usage: { input_tokens: 6, output_tokens: 2 },
      },
      { input: 6, output: 2 },
    ],
    [
      'embeddings',
      { object: 'list', model: 'small', data: [], usage: { prompt_tokens: 9, total_tokens: 9 } },
      { input: 9 },
    ],
    [
      'completions',
      { model: 'small', choices: [{ text: 'a', index: 0 }], usage: { prompt_tokens: 3, completion_tokens: 1 } },
      { input: 3, output: 1 },
    ],
  ] as const)('of %s is added up', async (protocol, body, usage) => {
    const line = { custom_id: 'a', response: { status_code: 200, body }, error: null };
    expect(await readAll(protocol, line, line)).toMatchObject({
      answers: 2,
      counted: 0,
      usage: Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, 2 * count])),
    });
  });

  test('without usage, or unreadable, is estimated, never free', async () => {
    const found = await readAll('chat', chat(undefined), '{"broken', chat({ prompt_tokens: 1, completion_tokens: 1 }));
    expect(found).toMatchObject({ answers: 3, counted: 2, usage: { input: 201 } });
    expect(found.usage.output).toBeGreaterThan(2);
    expect(found.cost).toBeGreaterThan(200_000n);
  });
});
