/** Owns making a chart's series of a usage reply: the greatest groups by their names, the others together. */
import type { Series } from '../../charts/stack.ts';
import { sumNano } from '../../lib/money.ts';
import { wholeNumber } from '../../lib/numbers.ts';
import { seriesColors } from '../../lib/series-color.ts';
import { disjointTokens, type Metric, type Sums, TOKEN_KINDS, type UsageGroup, type UsageReply } from './metrics.ts';

/** One piece of each column: its sums, for exact words, beside the approximate amounts. */
export interface UsageSeries extends Series {
  /** Null: the groups beyond the greatest, or a kind of token. */
  readonly group: UsageGroup | null;
  /** Exact words of a column. */
  readonly text: (column: number) => string;
}

const OWN_COLORS = 8;
const REST = 'var(--chart-rest)';
const NONE = 'none';

/** `claude-x · Production`. */
export function groupName(group: UsageGroup): string {
  return group.values.map((value, at) => group.labels[at] ?? value ?? NONE).join(' · ');
}

/**
 * The greatest first; where amounts are percentiles, those with the most calls. Groups that cannot be added are never put
 * together: beyond the greatest they are left to the table.
 */
export function usageSeries(reply: UsageReply, metric: Metric): readonly UsageSeries[] {
  const size = ({ sums }: UsageGroup) => (metric.adds ? (metric.amount(sums) ?? 0) : sums.requests);
  const sorted = reply.groups.filter((group) => size(group) > 0).sort((one, other) => size(other) - size(one));
  const shown = sorted.slice(0, OWN_COLORS);
  // The names in the order of letters: a colour does not change when the amounts do.
  const colors = seriesColors(shown.map(groupName).sort());
  const series = shown.map((group) => seriesOf(group, metric, colors.get(groupName(group)) ?? REST));
  const others = [...sorted.slice(OWN_COLORS), ...(reply.rest === null ? [] : [reply.rest])];
  return metric.adds && others.length > 0 ? [...series, restOf(others, metric, reply.buckets.length)] : series;
}

function seriesOf(group: UsageGroup, metric: Metric, color: string): UsageSeries {
  const at = (column: number) => group.buckets[column] ?? null;
  return {
    name: groupName(group),
    color,
    group,
    values: group.buckets.map((sums) => (sums === null ? null : metric.amount(sums))),
    text: (column) => textOf(metric, at(column)),
  };
}

/** Exact: the amounts that add up are added, percentiles are none. */
function addSums(all: readonly Sums[]): Sums {
  const whole = (name: 'requests' | 'errors' | 'unpriced' | (typeof TOKEN_KINDS)[number][0]) =>
    all.reduce((sum, one) => sum + one[name], 0);
  return {
    requests: whole('requests'),
    errors: whole('errors'),
    unpriced: whole('unpriced'),
    cost_nano_usd: sumNano(all.map((one) => one.cost_nano_usd)),
    cache_savings_nano_usd: sumNano(all.map((one) => one.cache_savings_nano_usd)),
    input: whole('input'),
    cache_read: whole('cache_read'),
    cache_write_5m: whole('cache_write_5m'),
    cache_write_1h: whole('cache_write_1h'),
    output: whole('output'),
    reasoning: whole('reasoning'),
    latency_p50_ms: null,
    latency_p95_ms: null,
    ttfb_p50_ms: null,
    ttfb_p95_ms: null,
  };
}

function restOf(groups: readonly UsageGroup[], metric: Metric, columns: number): UsageSeries {
  const buckets = Array.from({ length: columns }, (_, column) => {
    const sums = groups.map((group) => group.buckets[column] ?? null).filter((one) => one !== null);
    return sums.length === 0 ? null : addSums(sums);
  });
  const together = { values: [], labels: [], sums: addSums(groups.map(({ sums }) => sums)), buckets };
  return { ...seriesOf(together, metric, REST), name: 'others', group: null };
}

/** Each kind of token as a series, over all calls. */
export function tokenSeries(reply: UsageReply): readonly UsageSeries[] {
  return TOKEN_KINDS.map(([kind, word], at) => ({
    name: kind === 'output' ? 'Output, without reasoning' : word,
    color: `var(--chart-${at + 1})`,
    group: null,
    values: reply.totals.map((sums) => (sums === null ? null : disjointTokens(sums, kind))),
    text: (column: number) => {
      const sums = reply.totals[column] ?? null;
      return sums === null ? 'no call' : wholeNumber(disjointTokens(sums, kind));
    },
  })).filter(({ values }) => values.some((value) => (value ?? 0) > 0));
}

/** A column's exact words, or that there was nothing. */
export function textOf(metric: Metric, sums: Sums | null): string {
  return sums === null ? 'no call' : metric.text(sums);
}
