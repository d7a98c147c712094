/** Defines the metrics of the usage page: how each is read from aggregated calls, and how it is formatted. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { duration, shortNumber, wholeNumber } from '../../lib/format.ts';
import { approximateUsd, exactUsd, shortUsd } from '../../lib/money.ts';

export type UsageReply = Reply<'GET /accounts/{account}/usage'>;
export type Sums = UsageReply['total'];
export type UsageGroup = UsageReply['groups'][number];
/** Nano-USD as text, else a number. Null when there is nothing to measure. */
type Amount = UsageReply['totals'][number];

export const METRIC_NAMES = ['cost', 'requests', 'tokens', 'errors', 'latency', 'ttft', 'cache_savings'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];
export type Percentile = 'p50' | 'p95';

export interface Metric {
  readonly name: MetricName;
  readonly word: string;
  /** Whether groups add up to the total. Percentiles do not. */
  readonly adds: boolean;
  /** Reads the amount from sums, in the same unit as the amounts over time. */
  readonly of: (sums: Sums) => Amount;
  /** Column height: approximate. */
  readonly height: (amount: Amount) => number | null;
  /** Exact, with its unit. */
  readonly text: (amount: Amount) => string;
  /** Short, for an axis. */
  readonly axisText: (amount: number) => string;
  /** Whether it is a count. */
  readonly isWhole: boolean;
}

/** Kinds of tokens in billing order. Disjoint, except that reasoning is part of output. */
export const TOKEN_KINDS = [
  ['input', 'Input'],
  ['cache_read', 'Cache read'],
  ['cache_write_5m', 'Cache write (5 min)'],
  ['cache_write_1h', 'Cache write (1 h)'],
  ['output', 'Output'],
  ['reasoning', 'Reasoning'],
] as const satisfies readonly (readonly [keyof Sums, string])[];

export function tokensOf(sums: Sums): number {
  return TOKEN_KINDS.reduce((sum, [kind]) => (kind === 'reasoning' ? sum : sum + sums[kind]), 0);
}

/** Text of a column or group without requests. */
export const NO_DATA = 'No data';

/** Formats an amount that may be null. */
function textOf(words: (amount: string | number) => string): Metric['text'] {
  return (amount) => (amount === null ? NO_DATA : words(amount));
}

const USD = {
  adds: true,
  isWhole: false,
  height: (amount: Amount) => (amount === null ? null : approximateUsd(`${amount}`)),
  text: textOf((amount) => exactUsd(`${amount}`)),
  axisText: axisUsd,
} as const;
const COUNT = {
  adds: true,
  isWhole: true,
  height: heightOf,
  text: textOf((amount) => wholeNumber(Number(amount))),
  axisText: shortNumber,
} as const;
const TIME = {
  adds: false,
  isWhole: false,
  height: heightOf,
  text: textOf((amount) => duration(Number(amount))),
  axisText: (ms: number) => (ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toFixed(2))} s`),
} as const;

function heightOf(amount: Amount): number | null {
  return amount === null ? null : Number(amount);
}

function axisUsd(usd: number): string {
  if (usd === 0) return '$0';
  if (usd >= 1_000) return `$${shortNumber(usd)}`;
  if (Number.isInteger(usd)) return `$${usd}`;
  return `$${usd >= 0.01 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;
}

/** The metric of a name; latencies at the requested percentile. */
export function metricOf(name: MetricName, percentile: Percentile): Metric {
  switch (name) {
    case 'cost':
      return { name, word: 'Cost', of: (sums) => sums.cost_nano_usd, ...USD };
    case 'cache_savings':
      return { name, word: 'Cache savings', of: (sums) => sums.cache_savings_nano_usd, ...USD };
    case 'requests':
      return { name, word: 'Requests', of: (sums) => sums.requests, ...COUNT };
    case 'errors':
      return { name, word: 'Errors', of: (sums) => sums.errors, ...COUNT };
    case 'tokens':
      return { name, word: 'Tokens', of: tokensOf, ...COUNT };
    case 'latency':
      return { name, word: `Duration (${percentile})`, of: (sums) => sums[`latency_${percentile}_ms`], ...TIME };
    case 'ttft':
      return {
        name,
        word: `Time to first token (${percentile})`,
        of: (sums) => sums[`ttfb_${percentile}_ms`],
        ...TIME,
      };
  }
}

/** The metric's height for given sums. */
export function heightIn(metric: Metric, sums: Sums): number | null {
  return metric.height(metric.of(sums));
}

/** Short, for a tile: `$12.40`, `1.2M`. */
export function tileText(metric: Metric, sums: Sums): string {
  if (metric.name === 'cost') return shortUsd(sums.cost_nano_usd);
  if (metric.name === 'cache_savings') return shortUsd(sums.cache_savings_nano_usd);
  const amount = heightIn(metric, sums);
  if (amount === null) return '–';
  return metric.adds ? shortNumber(amount) : duration(amount);
}

/** `+12%` compared to the previous period; null when there is nothing to compare with. */
export function changeText(metric: Metric, now: Sums, before: Sums | null): string | null {
  const then = before === null ? null : heightIn(metric, before);
  const amount = heightIn(metric, now);
  if (then === null || amount === null || then === 0) return null;
  const percent = Math.round(((amount - then) / then) * 100);
  if (percent === 0) return '±0%';
  return `${percent > 0 ? '+' : '−'}${wholeNumber(Math.abs(percent))}%`;
}
