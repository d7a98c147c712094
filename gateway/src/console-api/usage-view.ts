/** Owns how sums and groups look in answers and files. */
import type { UsageDimension, UsageGroup, UsageSums } from '../store/usage-port.ts';
import type { UsageLabels } from './usage-parts.ts';

/** Errors are those of callers and ours together; calls that their callers left are none. */
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

/** The members of rendered sums, as columns of a file. */
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

export function renderBuckets(buckets: readonly (UsageSums | null)[]): (RenderedSums | null)[] {
  return buckets.map((sums) => (sums === null ? null : renderSums(sums)));
}

export function renderGroup({ values, sums, buckets }: UsageGroup, by: readonly UsageDimension[], labels: UsageLabels) {
  return {
    values: [...values],
    labels: values.map((value, index) => labelOf(by[index], value, labels)),
    sums: renderSums(sums),
    buckets: renderBuckets(buckets),
  };
}

/** Whose calls they are where no member made their key. */
const NO_MEMBER = 'command line';

/** Null: the value is its own name, or the calls have none. */
export function labelOf(
  dimension: UsageDimension | undefined,
  value: string | null,
  labels: UsageLabels,
): string | null {
  if (dimension === 'member') return value === null ? NO_MEMBER : labels.memberName(value);
  return dimension === 'key' && value !== null ? labels.keyName(value) : null;
}
