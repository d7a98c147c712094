/** Owns the histogram over a list of calls: at most sixty bars, by sums where series have what is asked for, else from the records. */
import type { Database } from 'bun:sqlite';
import { dayAt } from '../../../admission/day-at.ts';
import type { CallOutcome, LogHistogram, LogQuestion, UsageSums } from '../../usage-port.ts';
import { OUTCOME_SQL } from './call-outcome.ts';
import { kindFor, recordCondition } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import { findIds } from './find-ids.ts';
import { bucketOf, QUARTER_MS } from './plan-spans.ts';
import { readUsage } from './read-usage.ts';
import { readUsageAccount } from './usage-accounts.ts';

const BARS_MAX = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Lengths of a bar: those from a quarter of an hour on are made of whole quarters, those from a day on of days. */
const STEPS_MS = [1, 2, 5, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200].map(
  (minutes) => minutes * MINUTE_MS,
);
/** Calls that are counted one by one at most. */
const COUNTED_MAX = 20_000;

type Parameters = (string | number | null)[];

interface Bar {
  readonly atMs: number;
  requests: number;
  errors: number;
}

/** Null: without end or beginning there is nothing to divide; or the calls would have to be counted one by one, and are too many. */
export function readHistogram(database: Database, question: LogQuestion, deadline: Deadline): LogHistogram | null {
  const { fromMs, toMs } = question;
  if (fromMs === null || toMs === null || fromMs >= toMs || question.idPrefix !== null) return null;
  const stepMs =
    STEPS_MS.find((step) => (toMs - fromMs) / step <= BARS_MAX - 1) ??
    Math.ceil((toMs - fromMs) / BARS_MAX / DAY_MS) * DAY_MS;
  const scale = { fromMs, toMs, stepMs };
  if (kindFor(question.condition, []) !== null && stepMs % QUARTER_MS === 0) {
    return { stepMs, bars: sumBars(database, question, scale, deadline) };
  }
  const bars = countBars(database, question, scale, deadline);
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

/** Each so many days after the one before, as the zone's clocks show them. */
function days({ fromMs, toMs, stepMs }: Scale, timeZone: string): number[] {
  const all: number[] = [];
  for (let at = dayAt(timeZone, fromMs).startMs; at < toMs; ) {
    all.push(at);
    at = dayAt(timeZone, at + stepMs + DAY_MS / 2).startMs;
  }
  return all;
}

/** Of those that went so; null: of all. */
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

/** Null where they are too many. */
function countBars(database: Database, question: LogQuestion, scale: Scale, deadline: Deadline): readonly Bar[] | null {
  const { fromMs, toMs } = scale;
  const buckets = beginnings(scale);
  const bars = buckets.map((atMs): Bar => ({ atMs, requests: 0, errors: 0 }));
  const { sql, parameters } = recordCondition(question.tenant, question.condition, question.outcome);
  const read = database.prepare<{ at_ms: number; outcome: string }, Parameters>(
    `SELECT at_ms, ${OUTCOME_SQL} AS outcome FROM call_record
      WHERE request_id >= ? AND request_id < ? AND at_ms >= ? AND at_ms < ? AND ${sql} LIMIT ?`,
  );
  let left = COUNTED_MAX;
  try {
    for (const { from, below } of findIds(database, { ...question, beforeId: null })) {
      const rows = read.all(from, below, fromMs, toMs, ...parameters, left);
      for (const { at_ms, outcome } of rows) {
        const bar = bars[bucketOf(buckets, at_ms)];
        if (bar === undefined) continue;
        bar.requests += 1;
        if (outcome === 'client_error' || outcome === 'server_error') bar.errors += 1;
      }
      left -= rows.length;
      if (left <= 0) return null;
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  return bars;
}
