/**
 * Defines the routes about usage: the home page's overview, the usage page and its CSV file, and the reconciliation
 * with the ledger.
 */

import { z } from 'zod';
import { BILLED } from '../../store/ports/records.ts';
import { QUERY_CHARS_MAX } from '../query/parse-query.ts';
import { callFilters, filterLabels, id, nanoUsd, type RouteTable, time } from './row.ts';
import { viewSearch } from './saved-views.ts';

const DIMENSIONS = ['model', 'provider', 'key', 'member', 'workspace', 'end_user', 'session', 'protocol'] as const;
const METRICS = [
  'cost',
  'requests',
  'tokens',
  'errors',
  'latency_p50',
  'latency_p95',
  'ttfb_p50',
  'ttfb_p95',
  'cache_savings',
] as const;
const dimension = z.enum(DIMENSIONS);

/**
 * Sums over calls. Tokens are counted by kind, as in a record. Errors include client and server errors, but not calls
 * that the client cancelled. Percentiles cover successful calls and are at most 5 % off.
 */
const sums = z.object({
  requests: z.int(),
  errors: z.int(),
  cost_nano_usd: nanoUsd,
  /** Calls without a price: included in the requests, not in the cost. */
  unpriced: z.int(),
  input: z.int(),
  cache_read: z.int(),
  cache_write_5m: z.int(),
  cache_write_1h: z.int(),
  output: z.int(),
  reasoning: z.int(),
  /** What the same input would have cost without cache reads, minus its actual cost. */
  cache_savings_nano_usd: nanoUsd,
  /** Null: no such call. */
  latency_p50_ms: z.number().nullable(),
  latency_p95_ms: z.number().nullable(),
  ttfb_p50_ms: z.number().nullable(),
  ttfb_p95_ms: z.number().nullable(),
});

/** The members shown on overview pages. */
const glance = sums.pick({ requests: true, errors: true, cost_nano_usd: true, unpriced: true, ttfb_p50_ms: true });

const filters = {
  from: time,
  to: time,
  /** A query as in the list of requests, without text: `duration>10s status:5xx`. */
  q: z.string().max(QUERY_CHARS_MAX).optional(),
  ...callFilters,
};

/** `tag.team`: the values of this tag that the keys have now. */
const tagDimension = z
  .string()
  .regex(/^tag\.[a-z0-9][a-z0-9_.-]{0,39}$/)
  .transform((text) => text as `tag.${string}`);

/** One or two dimensions, separated by commas. */
const by = z
  .string()
  .default('model')
  .transform((text) => text.split(','))
  .pipe(
    z
      .array(z.union([dimension, tagDimension]))
      .min(1)
      .max(2),
  );

/**
 * Values of the requested metric in the order of `buckets`: nano-USD as text, else a number. Null: no call has a value.
 */
const amounts = z.array(z.union([nanoUsd, z.number()]).nullable());
const counts = z.array(z.int());

const group = z.object({
  /** A value for each requested dimension; null: the calls had none. */
  values: z.array(z.string().nullable()),
  /** Display names for ids that have one. */
  labels: z.array(z.string().nullable()),
  sums,
  /** Only for the first eight groups; null: for the others. */
  amounts: amounts.nullable(),
});

export const usageRoutes = {
  'GET /accounts/{account}/filter-names': {
    summary: 'Lists the names of keys and of the members who created them, for filters.',
    access: 'usage.read',
    reply: z.object({ names: filterLabels }),
  },
  'GET /accounts/{account}/home': {
    summary: 'Returns the overview: spend and budget, requests, errors, latency, top models and top keys.',
    access: 'usage.read',
    query: z.object({ range: z.enum(['24h', '7d', '30d']).default('7d') }),
    reply: z.object({
      sums: glance,
      before: glance,
      /** The account's time zone, in which its days start. */
      time_zone: z.string(),
      buckets: z.array(time),
      series: z.array(glance.nullable()),
      models: z.array(z.object({ model: z.string(), requests: z.int(), cost_nano_usd: nanoUsd })),
      keys: z.array(z.object({ key: id, name: z.string(), requests: z.int(), cost_nano_usd: nanoUsd })),
      budget: z
        .object({ window: z.string(), limit_nano_usd: nanoUsd, used_nano_usd: nanoUsd, held_nano_usd: nanoUsd })
        .nullable(),
      /** Only for a prepaid account; null: postpaid. */
      balance_nano_usd: nanoUsd.nullable(),
      /**
       * The providers that the account used in the range. The state covers all accounts; the counts cover this account,
       * over 15 minutes.
       */
      providers: z.array(
        z.object({ name: z.string(), state: z.enum(['healthy', 'failing', 'idle']), calls: z.int(), errors: z.int() }),
      ),
      /** The rule by which a provider counts as failing, in one sentence; the same on every page. */
      health_rule: z.string(),
      /** The saved view that the caller pinned. Null: none, or the caller may not list requests. */
      pinned_view: z.object({ id, name: z.string(), search: viewSearch }).nullable(),
      has_keys: z.boolean(),
      has_calls: z.boolean(),
    }),
  },
  'GET /accounts/{account}/usage': {
    summary: 'Returns sums of requests over time, by up to two dimensions.',
    access: 'usage.read',
    query: z.object({
      ...filters,
      by,
      /** `auto`: minutes, hours or days, by the length of the range. */
      step: z.enum(['auto', 'minute', 'hour', 'day']).default('auto'),
      compare: z.enum(['none', 'before']).default('none'),
      /** The metric shown over time, which also ranks the groups; percentiles rank them by number of calls. */
      metric: z.enum(METRICS).default('cost'),
    }),
    reply: z.object({
      step: z.enum(['minute', 'hour', 'day']),
      time_zone: z.string(),
      /** The metric of the amounts. */
      metric: z.enum(METRICS),
      buckets: z.array(time),
      filter_labels: filterLabels,
      /** The names of the keys’ tags, each a dimension `tag.<name>`. */
      tags: z.array(z.string()),
      groups: z.array(group),
      /** The sum of all groups after the first hundred; null: no further groups. */
      rest: sums.nullable(),
      /**
       * The sum of all groups without amounts of their own; null: no such groups, or the metric is a percentile, which
       * can't be summed.
       */
      others: amounts.nullable(),
      total: sums,
      totals: amounts,
      /** Present if the metric is tokens: the tokens of all calls, by kind. */
      kinds: z
        .object({
          input: counts,
          cache_read: counts,
          cache_write_5m: counts,
          cache_write_1h: counts,
          output: counts,
          reasoning: counts,
        })
        .nullable(),
      before: sums.nullable(),
      /** This month's cost at the present pace, against the account's budget. */
      forecast: z
        .object({ month_nano_usd: nanoUsd, spent_nano_usd: nanoUsd, budget_nano_usd: nanoUsd.nullable() })
        .nullable(),
    }),
  },
  'GET /accounts/{account}/usage.csv': {
    summary: 'Exports the sums as a file: one row per bucket and group.',
    access: 'usage.read',
    query: z.object({ ...filters, by, step: z.enum(['auto', 'minute', 'hour', 'day']).default('auto') }),
    reply: 'csv',
  },
  'GET /attempt-costs': {
    summary:
      'Adds up the attempts of all accounts that did not answer their requests and that the providers billed, or may have billed, to explain their invoices.',
    access: 'operator.read',
    query: z.object({ from: time, to: time }),
    reply: z.object({
      /** The most expensive first. */
      costs: z.array(
        z.object({
          provider: z.string(),
          /** The model's name at the provider. */
          model: z.string(),
          /** `yes`: the provider reported the usage. `maybe`: usage and cost are estimates. */
          billed: z.enum(BILLED),
          attempts: z.int(),
          /** Those of them without a price, whose cost is not included. */
          unpriced: z.int(),
          /** Tokens, including caches. */
          input: z.int(),
          output: z.int(),
          /** Without the accounts’ markups. */
          cost_nano_usd: nanoUsd,
        }),
      ),
    }),
  },
  'GET /accounts/{account}/usage/proof': {
    summary: 'Compares the sums of usage, records and ledger.',
    access: 'usage.read',
    query: z.object({ from: time, to: time }),
    reply: z.object({
      equal: z.boolean(),
      checked_at: time,
      usage_nano_usd: nanoUsd,
      records_nano_usd: nanoUsd,
      ledger_nano_usd: nanoUsd,
      /** Calls recorded before the ledger existed, which have no entries in it. */
      before_ledger_nano_usd: nanoUsd,
      calls: z.int(),
      entries: z.int(),
      /**
       * Whether the hash chain from the first to the last entry is valid, as far as it was checked in the available
       * time.
       */
      chain: z.object({ holds: z.boolean(), checked: z.int(), of: z.int() }),
    }),
  },
} as const satisfies RouteTable;
