/**
 * Plants six differences between records and the exports of a provider: a missing call, a double, a wrong tier, a retried
 * attempt, a cut stream, and a request that the provider counts to another day.
 */
import { parseConfigPrice } from '../../src/billing/config-price.ts';
import { withMarkUp } from '../../src/billing/price.ts';
import { costNanoUsd } from '../../src/billing/price-book.ts';
import type { Usage } from '../../src/generation/usage.ts';
import type { AttemptRecord, CallRecord } from '../../src/store/ports/records.ts';
import { sampleRecord } from '../../src/store/testing/sample-record.ts';

const PRICE = parseConfigPrice({ input: 1, output: 4 });
/** The account pays a mark-up; the provider never bills it. */
const CHARGED = withMarkUp(PRICE, 200_000);
const NOON_MS = Date.UTC(2026, 10, 20, 12);
/** Half an hour before midnight in UTC: the next day in Berlin. */
const LATE_MS = Date.UTC(2026, 10, 20, 23, 30);

export const CAUSES = ['cut_stream', 'double', 'missing_call', 'other_day', 'retried_attempt', 'wrong_tier'] as const;
export type Planted = (typeof CAUSES)[number];

interface Call {
  readonly name: Planted | 'plain';
  readonly model: string;
  readonly atMs: number;
  readonly usage: Usage;
  readonly generation: string;
  readonly record: CallRecord;
}

function usageOf(input: number, output: number): Usage {
  return { input, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output, reasoning: 0 };
}

function requestId(n: number, atMs: number): string {
  return `req_${atMs.toString(16).padStart(12, '0')}${String(n).padStart(20, '0')}`;
}

function attempt(model: string, generation: string, more: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    provider: 'router',
    model,
    status: 200,
    error: null,
    duration_ms: 900,
    upstream_request_id: generation,
    ...more,
  };
}

function call(n: number, name: Call['name'], model: string, atMs: number, changes: Partial<CallRecord> = {}): Call {
  const usage = usageOf(1_000 + 17 * n, 100 + 13 * n);
  const generation = `gen-${n}`;
  const record = sampleRecord(requestId(n, atMs), {
    at_ms: atMs,
    provider: 'router',
    model: 'public-name',
    served_model: model,
    usage,
    price_version: CHARGED.version,
    cost_nano_usd: costNanoUsd(usage, CHARGED).toString(),
    attempts: [attempt(model, generation)],
    ...changes,
  });
  return { name, model, atMs, usage, generation, record };
}

const LOST = { usage: usageOf(5_555, 33), generation: 'gen-lost' };

/** Forty plain calls of two models, and one of each planted kind, each with a model of its own besides them. */
export const CALLS: readonly Call[] = [
  ...Array.from({ length: 40 }, (_, n) =>
    call(n, 'plain', n % 2 === 0 ? 'openai/gpt-a' : 'openai/gpt-b', NOON_MS + n * 60_000),
  ),
  call(100, 'double', 'openai/gpt-a', NOON_MS + 3_600_000),
  call(101, 'wrong_tier', 'openai/gpt-tier', NOON_MS),
  call(102, 'retried_attempt', 'openai/gpt-retry', NOON_MS, {
    attempts: [
      attempt('openai/gpt-retry', LOST.generation, {
        status: null,
        error: 'upstream_timeout',
        billed: 'yes',
        usage: LOST.usage,
        price_version: PRICE.version,
        cost_nano_usd: costNanoUsd(LOST.usage, PRICE).toString(),
      }),
      attempt('openai/gpt-retry', 'gen-102', { start_ms: 2_000 }),
    ],
  }),
  call(103, 'cut_stream', 'openai/gpt-cut', NOON_MS, { usage_source: 'partial' }),
  call(104, 'other_day', 'openai/gpt-late', LATE_MS),
  call(105, 'plain', 'openai/gpt-late', NOON_MS),
  call(106, 'plain', 'openai/gpt-late', NOON_MS + 86_400_000),
];

/** What the provider counts, in its order: of each request its usage, its time as it shows it, and its price. */
interface Billed {
  readonly id: string;
  readonly model: string;
  readonly shownMs: number;
  readonly usage: Usage;
  readonly amount: bigint;
  readonly tier: string;
}

const BILLED: readonly Billed[] = [
  ...CALLS.map((each): Billed => {
    const usage = each.name === 'cut_stream' ? usageOf(each.usage.input, each.usage.output + 400) : each.usage;
    const list = costNanoUsd(usage, PRICE);
    const isPriority = each.name === 'wrong_tier';
    return {
      id: each.generation,
      model: each.model,
      // The provider counts the days of Berlin.
      shownMs: each.name === 'other_day' ? each.atMs + 3_600_000 : each.atMs,
      usage,
      amount: isPriority ? list * 2n : list,
      tier: isPriority ? 'priority' : 'default',
    };
  }),
  {
    id: 'gen-twin',
    model: 'openai/gpt-a',
    shownMs: NOON_MS + 3_601_000,
    usage: usageFor('double'),
    amount: costNanoUsd(usageFor('double'), PRICE),
    tier: 'default',
  },
  {
    id: 'gen-lost',
    model: 'openai/gpt-retry',
    shownMs: NOON_MS,
    usage: LOST.usage,
    amount: costNanoUsd(LOST.usage, PRICE),
    tier: 'default',
  },
  {
    id: 'gen-nobody',
    model: 'openai/gpt-b',
    shownMs: NOON_MS,
    usage: usageOf(77_777, 7),
    amount: costNanoUsd(usageOf(77_777, 7), PRICE),
    tier: 'default',
  },
];

function usageFor(name: Planted): Usage {
  return CALLS.find((each) => each.name === name)?.usage ?? usageOf(0, 0);
}

/** The request of each planted difference; a missing call has none. */
export const REQUESTS: Readonly<Record<Planted, string | null>> = Object.fromEntries(
  CAUSES.map((name) => [name, CALLS.find((each) => each.name === name)?.record.request_id ?? null]),
) as Record<Planted, string | null>;

function usd(nano: bigint): string {
  const digits = nano.toString().padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

const shown = (atMs: number) => new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');

/** The CSV file of OpenRouter's activity page. */
export function generationsCsv(): string {
  const heading =
    'generation_id,created_at,cost_total,tokens_prompt,tokens_completion,tokens_cached,model_permaslug,provider_name';
  const rows = BILLED.map(({ id, shownMs, amount, usage, model }) =>
    [id, shown(shownMs), usd(amount), usage.input, usage.output, 0, model, '"Acme, Inc."'].join(','),
  );
  return [heading, ...rows].join('\n');
}

/** Answers of OpenAI's usage API, by day, model and tier, without amounts. */
export function usageJson(): string {
  const groups = Map.groupBy(BILLED, ({ shownMs, model, tier }) => `${shown(shownMs).slice(0, 10)} ${model} ${tier}`);
  const data = [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const sum = (read: (each: Billed) => number) => all.reduce((total, each) => total + read(each), 0);
    const start_time = Date.parse(shown(first.shownMs).slice(0, 10)) / 1_000;
    const result = {
      object: 'organization.usage.completions.result',
      input_tokens: sum(({ usage }) => usage.input),
      output_tokens: sum(({ usage }) => usage.output),
      input_cached_tokens: 0,
      num_model_requests: all.length,
      model: first.model.replace('openai/', ''),
      service_tier: first.tier,
      batch: false,
    };
    return [{ object: 'bucket', start_time, end_time: start_time + 86_400, results: [result] }];
  });
  return JSON.stringify({ object: 'page', data, has_more: false, next_page: null });
}
