/** Counts requests and errors over time, for the histogram above their list. */
import type { Database } from 'bun:sqlite';
import { dayAt } from '../../../admission/window.ts';
import type { CallOutcome, LogHistogram, LogQuestion, UsageSums } from '../../ports/usage.ts';
import type { ChunkedLogs } from '../chunks/list-chunked.ts';
import { OUTCOME_SQL } from '../rollup/tally.ts';
import { readUsageAccount } from '../rollup/usage-accounts.ts';
import { kindFor } from '../usage/conditions.ts';
import { bucketOf, QUARTER_MS } from '../usage/plan-spans.ts';
import { readUsage } from '../usage/read-usage.ts';
import { type Deadline, startDeadline } from '../usage/scan-records.ts';
import { conditionOf, findRanges } from './log-ranges.ts';

type Parameters = (string | number | null)[];

const BARS_MAX = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Lengths of a bar: from a quarter of an hour on they consist of whole quarters, from a day on of days. */
const STEPS_MS = [1, 2, 5, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200].map(
  (minutes) => minutes * MINUTE_MS,
);
/** For so long calls that meet a query's terms are counted; a query that takes longer has no histogram. */
const COUNT_PACE_MS = 100;
/** Maximum number of calls that are counted one by one. */
const COUNTED_MAX = 20_000;

interface Bar {
  readonly atMs: number;
  requests: number;
  errors: number;
}

/** Null: the range lacks a start or an end, an id, a trace or a reason is searched, or too many calls would have to be counted one by one. */
export function readHistogram(
  database: Database,
  question: LogQuestion,
  chunked: ChunkedLogs | null,
  deadline: Deadline,
): LogHistogram | null {
  const { fromMs, toMs, idPrefix, traceId, reason } = question;
  if (fromMs === null || toMs === null || fromMs >= toMs) return null;
  if (idPrefix !== null || traceId !== undefined || reason !== undefined) return null;
  const stepMs =
    STEPS_MS.find((step) => (toMs - fromMs) / step <= BARS_MAX - 1) ??
    Math.ceil((toMs - fromMs) / BARS_MAX / DAY_MS) * DAY_MS;
  const scale = { fromMs, toMs, stepMs };
  const isSummed = (question.terms ?? []).length === 0 && kindFor(question.condition, []) !== null;
  if (isSummed && stepMs % QUARTER_MS === 0) {
    return { stepMs, bars: sumBars(database, question, scale, deadline) };
  }
  const bars =
    chunked === null ? countBars(database, question, scale, deadline) : countChunked(chunked, scale, deadline);
  return bars === null ? null : { stepMs, bars };
}

interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

function sumBars(
  database: Database,
  { tenant, condition, outcome }: LogQuestion,
  scale: Scale,
  deadline: Deadline,
): readonly Bar[] {
  const timeZone = readUsageAccount(database, tenant.account)?.timeZone ?? 'UTC';
  const { fromMs, toMs, stepMs } = scale;
  const buckets = stepMs < DAY_MS ? beginnings(scale) : days(scale, timeZone);
  const { totals } = readUsage(
    database,
    {
      tenant,
      condition,
      fromMs,
      toMs,
      buckets,
      timeZone,
      by: [],
      owners: null,
      latencies: 'none',
      rankedBy: 'requests',
      drawn: 0,
      timeMsMax: Number.POSITIVE_INFINITY,
    },
    deadline,
  );
  return buckets.map((atMs, index) => {
    const sums = totals[index] ?? null;
    return { atMs, ...(sums === null ? { requests: 0, errors: 0 } : countOf(sums, outcome)) };
  });
}

function beginnings({ fromMs, toMs, stepMs }: Scale): number[] {
  const firstMs = Math.floor(fromMs / stepMs) * stepMs;
  return Array.from({ length: Math.ceil((toMs - firstMs) / stepMs) }, (_, index) => firstMs + index * stepMs);
}

/** Each is this many days after the one before, by the zone's clocks. */
function days({ fromMs, toMs, stepMs }: Scale, timeZone: string): number[] {
  const all: number[] = [];
  for (let at = dayAt(timeZone, fromMs).startMs; at < toMs; ) {
    all.push(at);
    at = dayAt(timeZone, at + stepMs + DAY_MS / 2).startMs;
  }
  return all;
}

/** Counts only calls with the outcome; null: all. */
function countOf({ requests, clientErrors, serverErrors, cancelled }: UsageSums, outcome: CallOutcome | null) {
  switch (outcome) {
    case null:
      return { requests, errors: clientErrors + serverErrors };
    case 'ok':
      return { requests: requests - clientErrors - serverErrors - cancelled, errors: 0 };
    case 'cancelled':
      return { requests: cancelled, errors: 0 };
    case 'client_error':
      return { requests: clientErrors, errors: clientErrors };
    case 'server_error':
      return { requests: serverErrors, errors: serverErrors };
  }
}

function countChunked(chunked: ChunkedLogs, scale: Scale, deadline: Deadline): readonly Bar[] {
  const buckets = beginnings(scale);
  const bars = emptyBars(buckets);
  const [firstMs = 0] = buckets;
  chunked.count((atMs, outcome) => {
    const bar = bars[Math.floor((atMs - firstMs) / scale.stepMs)];
    if (bar !== undefined) countIn(bar, outcome);
  }, deadline);
  return bars;
}

const emptyBars = (buckets: readonly number[]) => buckets.map((atMs): Bar => ({ atMs, requests: 0, errors: 0 }));

function countIn(bar: Bar, outcome: string): void {
  bar.requests += 1;
  if (outcome === 'client_error' || outcome === 'server_error') bar.errors += 1;
}

/** Null where there are too many, or it takes too long. */
function countBars(database: Database, question: LogQuestion, scale: Scale, deadline: Deadline): readonly Bar[] | null {
  const pace = startDeadline((question.terms ?? []).length === 0 ? Number.POSITIVE_INFINITY : COUNT_PACE_MS);
  const { fromMs, toMs } = scale;
  const buckets = beginnings(scale);
  const bars = emptyBars(buckets);
  const { sql, parameters } = conditionOf(question);
  const read = database.prepare<{ at_ms: number; outcome: string }, Parameters>(
    `SELECT at_ms, ${OUTCOME_SQL} AS outcome FROM call_record
      WHERE request_id >= ? AND request_id < ? AND at_ms >= ? AND at_ms < ? AND ${sql} LIMIT ?`,
  );
  let left = COUNTED_MAX;
  try {
    for (const { from, below } of findRanges(database, { ...question, beforeId: null })) {
      const rows = read.all(from, below, fromMs, toMs, ...parameters, left);
      for (const { at_ms, outcome } of rows) {
        const bar = bars[bucketOf(buckets, at_ms)];
        if (bar !== undefined) countIn(bar, outcome);
      }
      left -= rows.length;
      if (left <= 0 || pace.isOver()) return null;
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  return bars;
}
