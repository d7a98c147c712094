/** Computes the numbers of the home page: which are shown, their change, and their course over time. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { duration, shortNumber } from '../../lib/format.ts';
import { approximateUsd, shortUsd } from '../../lib/money.ts';

export type Overview = Reply<'GET /accounts/{account}/home'>;
export type Sums = Overview['sums'];
export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;
export type Range = (typeof RANGES)[number][0];
export const METRICS = ['cost', 'requests', 'errors', 'ttfb'] as const;
export type Metric = (typeof METRICS)[number];

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  cost: 'Spend',
  requests: 'Requests',
  errors: 'Errors',
  ttfb: 'Time to first token',
};

/** Reads the range of the address, or the default. */
export function readRange(text: string | undefined): Range {
  return RANGES.find(([range]) => range === text)?.[0] ?? '7d';
}
/** When nothing was spent, the default metric is the number of requests, since a cost chart would be empty. */
export function readMetric(text: string | undefined, sums: Sums): Metric {
  return METRICS.find((metric) => metric === text) ?? (BigInt(sums.cost_nano_usd) === 0n ? 'requests' : 'cost');
}

/** Bar height: US dollars, counts or ms. Null when there was no call to measure. */
export function barValue(sums: Sums | null, metric: Metric): number | null {
  if (sums === null) return metric === 'ttfb' ? null : 0;
  if (metric === 'cost') return approximateUsd(sums.cost_nano_usd);
  return metric === 'ttfb' ? sums.ttfb_p50_ms : sums[metric];
}

/** Display text: `$1.20`, `12.3K`, `840 ms`. */
export function figure(sums: Sums, metric: Metric): string {
  if (metric === 'cost') return shortUsd(sums.cost_nano_usd);
  if (metric === 'ttfb') return sums.ttfb_p50_ms === null ? '–' : duration(sums.ttfb_p50_ms);
  return shortNumber(sums[metric]);
}

/** Change from the previous period: `+12%`, `−3%`, `×14`, `±0%`. Null when there is nothing to compare with. */
export function change(now: Sums, before: Sums, metric: Metric): string | null {
  const [one, other] =
    metric === 'cost'
      ? [BigInt(now.cost_nano_usd), BigInt(before.cost_nano_usd)]
      : [wholeOf(now, metric), wholeOf(before, metric)];
  if (one === null || other === null || other <= 0n) return null;
  if (one >= other * 10n) return `×${one / other}`;
  // Rounds half a percent up instead of truncating.
  const percent = Number(((one - other) * 1000n) / other) / 10;
  const rounded = Math.round(percent);
  if (rounded === 0) return '±0%';
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded)}%`;
}

function wholeOf(sums: Sums, metric: Exclude<Metric, 'cost'>): bigint | null {
  const value = barValue(sums, metric);
  return value === null ? null : BigInt(Math.round(value));
}

/** Merges neighboring bars into at most `count`: sums for amounts, means for times. */
export function coarser(values: readonly (number | null)[], count: number, metric: Metric): readonly number[] {
  const size = Math.max(1, Math.ceil(values.length / count));
  const bars: number[] = [];
  for (let at = 0; at < values.length; at += size) {
    const some = values.slice(at, at + size).filter((value) => value !== null);
    const sum = some.reduce((total, value) => total + value, 0);
    bars.push(metric === 'ttfb' && some.length > 0 ? sum / some.length : sum);
  }
  return bars;
}

/** Top of a scale: the next of 1, 2, 5 × 10ⁿ, so that its half is a round number too. */
export function scaleTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((one) => one * power >= most * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** End of a bucket: the start of the next one; the last is as long as the one before. */
export function bucketEnd(buckets: readonly string[], at: number): string {
  const next = buckets[at + 1];
  if (next !== undefined) return next;
  const start = Date.parse(buckets[at] ?? '');
  return new Date(start + bucketMs(buckets)).toISOString();
}

const HOUR_MS = 3_600_000;

/** Length of the buckets, as far as it can be derived. */
function bucketMs(buckets: readonly string[]): number {
  const [first, second] = buckets.slice(-2);
  return first === undefined || second === undefined ? HOUR_MS : Date.parse(second) - Date.parse(first);
}

/** A day is 23 hours long when clocks go forward. */
export function areDays(buckets: readonly string[]): boolean {
  return bucketMs(buckets) >= 23 * HOUR_MS;
}

/** `Nov 21` when buckets are days, else `Nov 21, 14:00`. */
export function bucketLabel(buckets: readonly string[], at: number, timeZone: string): string {
  const isDay = areDays(buckets);
  const format = new Intl.DateTimeFormat('en-US', {
    day: 'numeric',
    month: 'short',
    timeZone,
    ...(isDay ? {} : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  });
  return format.format(new Date(buckets[at] ?? ''));
}
