/** Owns what the usage page can show over time: for each metric what groups are ranked by, and its amount in sums. */
import type { UsageQuestion, UsageRank, UsageSums } from '../../store/ports/usage.ts';
import type { ReadQuery } from '../contract/contract.ts';

export type UsageMetric = ReadQuery<'GET /accounts/{account}/usage'>['metric'];

/** Nano-USD as text, else a number: calls, tokens, or ms. Null: no call that has one. */
type Amount = string | number | null;

interface MetricRow {
  /** Percentiles do not add up: the groups with most calls come first. */
  readonly rankedBy: UsageRank;
  readonly latencies: UsageQuestion['latencies'];
  readonly amountOf: (sums: UsageSums) => Amount;
}

const added = (rankedBy: UsageRank, amountOf: MetricRow['amountOf']): MetricRow => ({
  rankedBy,
  latencies: 'sums',
  amountOf,
});
/** Percentiles of each bucket take longest, and are read where they are shown. */
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

/** Reasoning is a part of output. */
function tokensOf({ input, cache_read, cache_write_5m, cache_write_1h, output }: UsageSums): number {
  return input + cache_read + cache_write_5m + cache_write_1h + output;
}
