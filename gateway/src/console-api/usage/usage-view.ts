/** Computes metrics of usage sums, and renders sums and groups for replies and CSV files. */
import type {
  UsageBuckets,
  UsageDimension,
  UsageGroup,
  UsageQuestion,
  UsageRank,
  UsageSums,
} from '../../store/ports/usage.ts';
import type { ReadQuery } from '../contract/contract.ts';
import type { UsageLabels } from './usage-parts.ts';

/** Errors are client and server errors together, without calls that the client cancelled. */
export function renderSums(sums: UsageSums) {
  return {
    requests: sums.requests,
    errors: sums.clientErrors + sums.serverErrors,
    cost_nano_usd: sums.cost.toString(),
    unpriced: sums.unpriced,
    input: sums.input,
    cache_read: sums.cache_read,
    cache_write_5m: sums.cache_write_5m,
    cache_write_1h: sums.cache_write_1h,
    output: sums.output,
    reasoning: sums.reasoning,
    cache_savings_nano_usd: sums.cacheSavings.toString(),
    latency_p50_ms: sums.latencyP50Ms,
    latency_p95_ms: sums.latencyP95Ms,
    ttfb_p50_ms: sums.ttfbP50Ms,
    ttfb_p95_ms: sums.ttfbP95Ms,
  };
}

export type RenderedSums = ReturnType<typeof renderSums>;

/** The members of rendered sums, as CSV columns. */
export const SUMS_COLUMNS = [
  'requests',
  'errors',
  'cost_nano_usd',
  'unpriced',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'cache_savings_nano_usd',
  'latency_p50_ms',
  'latency_p95_ms',
  'ttfb_p50_ms',
  'ttfb_p95_ms',
] as const satisfies readonly (keyof RenderedSums)[];

/** The members shown on overview pages. */
export function renderGlance(sums: UsageSums) {
  const { requests, errors, cost_nano_usd, unpriced, ttfb_p50_ms } = renderSums(sums);
  return { requests, errors, cost_nano_usd, unpriced, ttfb_p50_ms };
}

/** The values of a metric over the buckets; null: no call. */
export function renderAmounts(buckets: UsageBuckets, metric: UsageMetric) {
  const { amountOf } = METRICS[metric];
  return buckets.map((sums) => (sums === null ? null : amountOf(sums)));
}

type TokenKind = 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output' | 'reasoning';

/** Tokens over the buckets, by kind. */
export function renderKinds(buckets: UsageBuckets) {
  const kind = (name: TokenKind) => buckets.map((sums) => sums?.[name] ?? 0);
  return {
    input: kind('input'),
    cache_read: kind('cache_read'),
    cache_write_5m: kind('cache_write_5m'),
    cache_write_1h: kind('cache_write_1h'),
    output: kind('output'),
    reasoning: kind('reasoning'),
  };
}

interface GroupView {
  readonly by: readonly UsageDimension[];
  readonly metric: UsageMetric;
  readonly labels: UsageLabels;
}

export function renderGroup({ values, sums, buckets }: UsageGroup, { by, metric, labels }: GroupView) {
  return {
    values: [...values],
    labels: values.map((value, index) => labelOf(by[index], value, labels)),
    sums: renderSums(sums),
    amounts: buckets === null ? null : renderAmounts(buckets, metric),
  };
}

/** The owner of calls whose key was created by no member. */
const NO_MEMBER = 'command line';

/** Null: the value is its own display name, or the calls have none. */
export function labelOf(
  dimension: UsageDimension | undefined,
  value: string | null,
  labels: UsageLabels,
): string | null {
  if (dimension === 'member') return value === null ? NO_MEMBER : labels.memberName(value);
  return dimension === 'key' && value !== null ? labels.keyName(value) : null;
}

type UsageMetric = ReadQuery<'GET /accounts/{account}/usage'>['metric'];

/** Nano-USD as text, else a number: calls, tokens, or ms. Null: no call has a value. */
type Amount = string | number | null;

interface MetricRow {
  /** Percentiles can't be summed, so they rank groups by number of calls. */
  readonly rankedBy: UsageRank;
  readonly latencies: UsageQuestion['latencies'];
  readonly amountOf: (sums: UsageSums) => Amount;
}

const added = (rankedBy: UsageRank, amountOf: MetricRow['amountOf']): MetricRow => ({
  rankedBy,
  latencies: 'sums',
  amountOf,
});
/** Percentiles per bucket are the slowest to read, so they are read only where they are shown. */
const timed = (amountOf: MetricRow['amountOf']): MetricRow => ({
  rankedBy: 'requests',
  latencies: 'buckets',
  amountOf,
});

export const METRICS: Readonly<Record<UsageMetric, MetricRow>> = {
  cost: added('cost', ({ cost }) => cost.toString()),
  requests: added('requests', ({ requests }) => requests),
  tokens: added('tokens', tokensOf),
  errors: added('errors', ({ clientErrors, serverErrors }) => clientErrors + serverErrors),
  cache_savings: added('cache_savings', ({ cacheSavings }) => cacheSavings.toString()),
  latency_p50: timed(({ latencyP50Ms }) => latencyP50Ms),
  latency_p95: timed(({ latencyP95Ms }) => latencyP95Ms),
  ttfb_p50: timed(({ ttfbP50Ms }) => ttfbP50Ms),
  ttfb_p95: timed(({ ttfbP95Ms }) => ttfbP95Ms),
};

/** Output includes reasoning. */
function tokensOf({ input, cache_read, cache_write_5m, cache_write_1h, output }: UsageSums): number {
  return input + cache_read + cache_write_5m + cache_write_1h + output;
}
