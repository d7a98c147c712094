/** Tests each format of an export with a line as its vendor documents it. */
import { describe, expect, test } from 'bun:test';
import { attoToNano, InvoiceError, parseAmount, parseCount, parseTime } from '../invoice-line.ts';
import { attemptModelKey } from '../model-names.ts';
import { readInvoiceText } from '../read-invoice.ts';

const page = (start: object, ...results: readonly object[]) =>
  JSON.stringify({ object: 'page', data: [{ ...start, results }], has_more: false });

const usd = (amount: bigint | null) => (amount === null ? null : attoToNano(amount));

describe('exports', () => {
  test('OpenAI: costs by line item', () => {
    const start = { object: 'bucket', start_time: 1_730_419_200, end_time: 1_730_505_600 };
    const costs = page(
      start,
      {
        object: 'organization.costs.result',
        amount: { value: 0.06, currency: 'usd' },
        line_item: 'gpt-4o-2024-08-06, cached input',
        project_id: null,
      },
      {
        object: 'organization.costs.result',
        amount: { value: 1, currency: 'usd' },
        line_item: 'web search',
        project_id: null,
      },
    );
    const { format, lines } = readInvoiceText(costs, 'costs.json');
    expect(format?.name).toBe('openai-costs');
    expect(lines.map(({ day, model, amount }) => [day, model, usd(amount)])).toEqual([
      ['2024-11-01', 'gpt-4o-2024-08-06', 60_000_000n],
      ['2024-11-01', 'web search', 1_000_000_000n],
    ]);
  });

  test('OpenAI: usage, whose input includes what was cached', () => {
    const use = {
      num_model_requests: 5,
      input_tokens: 1000,
      input_cached_tokens: 800,
      output_tokens: 500,
      model: 'gpt-4o',
      batch: true,
    };
    const { lines } = readInvoiceText(page({ start_time: 1_730_419_200 }, use), 'usage.json');
    expect(lines).toMatchObject([
      {
        requests: 5,
        tokens: { input: 200, cache_read: 800, cache_write: 0, output: 500 },
        tier: 'batch',
        amount: null,
      },
    ]);
    expect(() => readInvoiceText(page({ start_time: 1 }, { ...use, model: null }), 'u')).toThrow(
      'group the export by model',
    );
  });

  test('Anthropic: costs are hundredths of a dollar', () => {
    const cost = {
      amount: '123.45',
      currency: 'USD',
      model: 'claude-opus-4-8',
      cost_type: 'tokens',
      service_tier: 'standard',
    };
    const text = page({ starting_at: '2026-11-20T00:00:00Z', ending_at: '2026-11-21T00:00:00Z' }, cost, {
      ...cost,
      model: null,
      cost_type: 'web_search',
    });
    const { format, lines } = readInvoiceText(text, 'cost.json');
    expect(format?.name).toBe('anthropic-costs');
    expect(lines.map(({ model, amount }) => [model, usd(amount)])).toEqual([
      ['claude-opus-4-8', 1_234_500_000n],
      ['web_search', 1_234_500_000n],
    ]);
    expect(() => readInvoiceText(text.replaceAll('USD', 'EUR'), 'c')).toThrow('currency: found EUR, expected USD');
  });

  test('Anthropic: usage', () => {
    const use = {
      uncached_input_tokens: 1500,
      cache_creation: { ephemeral_1h_input_tokens: 1000, ephemeral_5m_input_tokens: 500 },
      cache_read_input_tokens: 200,
      output_tokens: 500,
      model: 'claude-sonnet-4-6',
      service_tier: 'batch',
    };
    const { lines } = readInvoiceText(page({ starting_at: '2026-11-20T00:00:00Z' }, use), 'usage.json');
    expect(lines).toMatchObject([
      {
        day: '2026-11-20',
        requests: null,
        tier: 'batch',
        tokens: { input: 1500, cache_read: 200, cache_write: 1500, output: 500 },
      },
    ]);
  });

  test('Bedrock: invocation logs, an object on each line', () => {
    const log = (requestId: string) =>
      JSON.stringify({
        schemaType: 'ModelInvocationLog',
        timestamp: '2026-11-20T00:38:02Z',
        requestId,
        modelId: 'arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-sonnet-4-6-v1:0',
        input: { inputTokenCount: 4, cacheReadInputTokenCount: 1, cacheWriteInputTokenCount: 2 },
        output: { outputTokenCount: 38 },
      });
    const { lines } = readInvoiceText(`${log('a')}\n${log('b')}\n`, 'log.jsonl');
    expect(lines.map(({ requestId }) => requestId)).toEqual(['a', 'b']);
    expect(lines[0]).toMatchObject({
      atMs: Date.UTC(2026, 10, 20, 0, 38, 2),
      tokens: { input: 4, cache_read: 1, cache_write: 2, output: 38 },
    });
    expect(attemptModelKey(lines[0]?.model ?? '')).toBe(attemptModelKey('claude-sonnet-4-6'));
  });

  test('AWS: rows of other services are left out, and tiers are read from usage types', () => {
    const row = (code: string, type: string) => ({
      line_item_product_code: code,
      line_item_usage_start_date: '2026-11-20T00:00:00.000Z',
      line_item_usage_type: type,
      line_item_unblended_cost: '0.0000012345',
    });
    const rows = [
      row('AmazonBedrock', 'USE1-Claude4.5Sonnet-input-tokens'),
      row('AmazonBedrock', 'USE1-NovaLite-output-tokens-flex'),
      row('AmazonEC2', 'x'),
    ];
    const { lines } = readInvoiceText(JSON.stringify(rows), 'cur.json');
    expect(lines.map(({ model, tier }) => [model, tier])).toEqual([
      ['Claude4.5Sonnet', null],
      ['NovaLite', 'flex'],
    ]);
  });

  test('OpenRouter: activity by day', () => {
    const day = {
      date: '2026-11-20 00:00:00',
      model: 'openai/gpt-5',
      usage: 0.5,
      requests: 3,
      prompt_tokens: 10,
      completion_tokens: 20,
      reasoning_tokens: 5,
    };
    const { lines } = readInvoiceText(JSON.stringify({ data: [day] }), 'activity.json');
    expect(lines).toMatchObject([{ day: '2026-11-20', requests: 3, tokens: { input: 10, output: 20 } }]);
  });
});

describe('values', () => {
  test('amounts keep 18 decimals, signs and exponents; sums are rounded once', () => {
    for (const [text, atto] of [
      ['0.000000000000000001', 1n],
      ['-1', -(10n ** 18n)],
      ['1.2345678901234567e-05', 12_345_678_901_235n],
      ['5e-19', 1n],
      ['', null],
      ['1,000', null],
      ['NaN', null],
      ['1e400', null],
      ['9000000001', null],
    ] as const) {
      if (atto === null) expect(() => parseAmount(text, 'line 1')).toThrow(InvoiceError);
      else expect([text, parseAmount(text, 'line 1')]).toEqual([text, atto]);
    }
    expect(parseAmount('123.45', 'line 1', true)).toBe(1_234_500_000_000_000_000n);
    const third = parseAmount('0.0000000003', 'line 1');
    expect([attoToNano(third), attoToNano(third + third), attoToNano(-third - third)]).toEqual([0n, 1n, -1n]);
  });

  test('counts and times', () => {
    expect([parseCount('10.0', 'x'), parseCount(null, 'x')]).toEqual([10, 0]);
    for (const text of ['-1', '1.5', '1e3', '99999999999999999'])
      expect(() => parseCount(text, 'x')).toThrow(InvoiceError);
    const atMs = Date.UTC(2026, 10, 20, 8);
    for (const text of [
      '2026-11-20T08:00:00Z',
      '2026-11-20 08:00:00',
      '2026-11-20 10:00:00 +0200',
      String(atMs / 1_000),
    ]) {
      expect([text, parseTime(text, 'x')]).toEqual([text, atMs]);
    }
    expect(() => parseTime('20/11/2026', 'x')).toThrow(InvoiceError);
  });
});
