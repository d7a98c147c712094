/** Owns what the usage page can show: each metric's amount in a sum over calls, and its words. */
import type { Reply } from '../../../../gateway/src/console-api/contract.ts';
import { approximateUsd, exactUsd, shortUsd } from '../../lib/money.ts';
import { duration, shortNumber, wholeNumber } from '../../lib/numbers.ts';

export type UsageReply = Reply<'GET /accounts/{account}/usage'>;
export type Sums = UsageReply['total'];
export type UsageGroup = UsageReply['groups'][number];

export const METRIC_NAMES = ['cost', 'requests', 'tokens', 'errors', 'latency', 'ttft', 'cache_savings'] as const;
export type MetricName = (typeof METRIC_NAMES)[number];
export type Percentile = 'p50' | 'p95';

export interface Metric {
  readonly name: MetricName;
  readonly word: string;
  /** Whether groups add up to the whole. Percentiles do not. */
  readonly adds: boolean;
  /** For the height of a column: approximate. Null: nothing to measure. */
  readonly amount: (sums: Sums) => number | null;
  /** Exact, with its unit. */
  readonly text: (sums: Sums) => string;
  /** Short, for an axis. */
  readonly axisText: (amount: number) => string;
  /** Whether it is a count. */
  readonly isWhole: boolean;
}

/** The counters of tokens, in the order in which they are billed. Disjoint, save that reasoning is a part of output. */
export const TOKEN_KINDS = [
  ['input', 'Input'],
  ['cache_read', 'Cache read'],
  ['cache_write_5m', 'Cache write, 5 min'],
  ['cache_write_1h', 'Cache write, 1 h'],
  ['output', 'Output'],
  ['reasoning', 'Reasoning'],
] as const satisfies readonly (readonly [keyof Sums, string])[];
export type TokenKind = (typeof TOKEN_KINDS)[number][0];

export function tokensOf(sums: Sums): number {
  return TOKEN_KINDS.reduce((sum, [kind]) => (kind === 'reasoning' ? sum : sum + sums[kind]), 0);
}

/** Tokens of one kind, disjoint: output is what is left without its reasoning. */
export function disjointTokens(sums: Sums, kind: TokenKind): number {
  return kind === 'output' ? sums.output - sums.reasoning : sums[kind];
}

function milliseconds(ms: number | null): string {
  return ms === null ? 'no call' : duration(ms);
}

function axisUsd(usd: number): string {
  if (usd === 0) return '$0';
  if (usd >= 1_000) return `$${shortNumber(usd)}`;
  if (Number.isInteger(usd)) return `$${usd}`;
  return `$${usd >= 0.01 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;
}

/** The metric of a name, for latencies at the percentile asked for. */
export function metricOf(name: MetricName, percentile: Percentile): Metric {
  const timed = (which: 'latency' | 'ttfb') => (sums: Sums) => sums[`${which}_${percentile}_ms`];
  switch (name) {
    case 'cost':
      return {
        name,
        word: 'Cost',
        adds: true,
        amount: (sums) => approximateUsd(sums.cost_nano_usd),
        text: (sums) => exactUsd(sums.cost_nano_usd),
        axisText: axisUsd,
        isWhole: false,
      };
    case 'cache_savings':
      return {
        name,
        word: 'Cache savings',
        adds: true,
        amount: (sums) => approximateUsd(sums.cache_savings_nano_usd),
        text: (sums) => exactUsd(sums.cache_savings_nano_usd),
        axisText: axisUsd,
        isWhole: false,
      };
    case 'requests':
    case 'errors':
      return {
        name,
        word: name === 'requests' ? 'Requests' : 'Errors',
        adds: true,
        amount: (sums) => sums[name],
        text: (sums) => wholeNumber(sums[name]),
        axisText: shortNumber,
        isWhole: true,
      };
    case 'tokens':
      return {
        name,
        word: 'Tokens',
        adds: true,
        amount: tokensOf,
        text: (sums) => wholeNumber(tokensOf(sums)),
        axisText: shortNumber,
        isWhole: true,
      };
    case 'latency':
    case 'ttft': {
      const amount = timed(name === 'latency' ? 'latency' : 'ttfb');
      return {
        name,
        word: `${name === 'latency' ? 'Duration' : 'Time to first token'}, ${percentile}`,
        adds: false,
        amount,
        text: (sums) => milliseconds(amount(sums)),
        axisText: (ms) => (ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toFixed(2))} s`),
        isWhole: false,
      };
    }
  }
}

/** Short, for a tile: `$12.40`, `1.2M`. */
export function tileText(metric: Metric, sums: Sums): string {
  if (metric.name === 'cost') return shortUsd(sums.cost_nano_usd);
  if (metric.name === 'cache_savings') return shortUsd(sums.cache_savings_nano_usd);
  const amount = metric.amount(sums);
  if (amount === null) return '–';
  return metric.adds ? shortNumber(amount) : duration(amount);
}

/** `+12 %` against the time before; null: there is nothing to compare with. */
export function changeText(metric: Metric, now: Sums, before: Sums | null): string | null {
  const then = before === null ? null : metric.amount(before);
  const amount = metric.amount(now);
  if (then === null || amount === null || then === 0) return null;
  const percent = Math.round(((amount - then) / then) * 100);
  if (percent === 0) return '±0 %';
  return `${percent > 0 ? '+' : '−'}${wholeNumber(Math.abs(percent))} %`;
}
