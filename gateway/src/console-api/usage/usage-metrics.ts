/** Defines the metrics of the usage page: how each ranks groups, and how its value is read from sums. */
import type { UsageQuestion, UsageRank, UsageSums } from '../../store/ports/usage.ts';
import type { ReadQuery } from '../contract/contract.ts';

export type UsageMetric = ReadQuery<'GET /accounts/{account}/usage'>['metric'];

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
