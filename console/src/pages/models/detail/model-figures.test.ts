/** Tests the figures of a model's page. */
import { expect, test } from 'bun:test';
import type { ModelView } from '../model-facts.ts';
import { type Figures, priceRows, tokensPerSecond, USE_ROWS } from './model-figures.ts';

type Call = NonNullable<NonNullable<Figures['calls']>>[number];
const call = (output: number, duration_ms: number, changes: Partial<Call> = {}): Call => ({
  stream: true,
  status: 200,
  error: null,
  usage: { input: 1, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output, reasoning: 0 },
  ttfb_ms: 1_000,
  duration_ms,
  ...changes,
});

test('the speed is the median after the first token, of complete streams with enough tokens', () => {
  const calls = [
    call(100, 2_000),
    call(100, 3_000),
    call(300, 2_000),
    call(9_999, 2_000, { stream: false }),
    call(9_999, 2_000, { error: 'upstream_truncated' }),
    call(9_999, 2_000, { status: 500 }),
    call(3, 1_001),
    call(100, 1_000),
  ];
  expect(tokensPerSecond(calls)).toBe(100);
  expect(tokensPerSecond([])).toBeNull();
  expect(tokensPerSecond([call(100, 900)])).toBeNull();
});

test('without requests there are no shares, and while loading no text', () => {
  const none = {
    requests: 0,
    errors: 0,
    cost_nano_usd: '0',
    unpriced: 0,
    input: 0,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output: 0,
    reasoning: 0,
    cache_savings_nano_usd: '0',
    latency_p50_ms: null,
    latency_p95_ms: null,
    ttfb_p50_ms: null,
    ttfb_p95_ms: null,
  };
  const model = {} as ModelView;
  const texts = USE_ROWS.map(({ text }) => text({ model, sums: none, calls: null }));
  expect(texts).toEqual(['0', '$0.00', '–', '–', '–', '–', '–', '0', '0', '–']);
  const loading = USE_ROWS.map(({ text }) => text({ model, sums: undefined, calls: undefined }));
  expect(new Set(loading)).toEqual(new Set([null]));
});

test('a rate is listed if one of the models has it', () => {
  const priced = { price: { free: false, input: '1', output: '2', cache_read: '0.1' } } as ModelView;
  const other = { price: { free: false, input: '3', output: '4', cache_write_1h: '6' } } as ModelView;
  const labels = priceRows([priced, other]).map(({ label }) => label);
  expect(labels).toEqual(['Input', 'Output', 'Cache read', 'Cache write (1 h)']);
  expect(
    priceRows([{ price: null } as ModelView]).map(({ text }) => text({ model: { price: null } } as Figures)),
  ).toEqual(['Unpriced', 'Unpriced']);
});
