/** Owns the histogram over a list of calls: at most sixty bars, by quarters where there are many calls, else from their records. */
import type { Database } from 'bun:sqlite';
import type { LogHistogram, LogQuestion } from '../../usage-port.ts';
import { OUTCOME_SQL, outcomeOf } from './call-outcome.ts';
import { kindFor, recordCondition } from './conditions.ts';
import { countCalls, countErrors } from './count-outcomes.ts';
import type { Deadline } from './deadline.ts';
import { findIds } from './find-ids.ts';
import { QUARTER_MS } from './plan-spans.ts';
import { readBlocks, readSeriesIds } from './read-blocks.ts';
import { idsOf, scanUnfolded } from './scan-records.ts';
import { readUsageAccount } from './usage-accounts.ts';
import type { SeriesKind } from './usage-series.ts';

const BARS_MAX = 60;
const MINUTE_MS = 60_000;
/** Lengths of a bar: those from a quarter of an hour on are made of whole quarters. */
const STEPS_MS = [1, 2, 5, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200].map(
  (minutes) => minutes * MINUTE_MS,
);
/** Calls that are counted one by one at most. */
const COUNTED_MAX = 20_000;

type Parameters = (string | number | null)[];
type Bars = Map<number, { requests: number; errors: number }>;

/** Null: without end or beginning there is nothing to divide; or the calls would have to be counted one by one, and are too many. */
export function readHistogram(database: Database, question: LogQuestion, deadline: Deadline): LogHistogram | null {
  const { fromMs, toMs } = question;
  if (fromMs === null || toMs === null || fromMs >= toMs || question.idPrefix !== null) return null;
  const stepMs =
    STEPS_MS.find((step) => (toMs - fromMs) / step <= BARS_MAX - 1) ?? Math.ceil((toMs - fromMs) / BARS_MAX);
  const bars: Bars = new Map();
  const kind = kindFor(question.condition, []);
  if (kind !== null && stepMs % QUARTER_MS === 0) {
    addQuarters(database, question, kind, { fromMs, toMs, stepMs }, bars, deadline);
  } else if (!addRecords(database, question, { fromMs, toMs, stepMs }, bars, deadline)) return null;
  const firstMs = Math.floor(fromMs / stepMs) * stepMs;
  const atMs = Array.from({ length: Math.ceil((toMs - firstMs) / stepMs) }, (_, index) => firstMs + index * stepMs);
  return { stepMs, bars: atMs.map((at) => ({ atMs: at, ...(bars.get(at) ?? { requests: 0, errors: 0 }) })) };
}

interface Scale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Whole bars of whole quarters: at the ends of the range it shows the calls of the quarter that the end lies in. */
function addQuarters(
  database: Database,
  { tenant, condition, outcome }: LogQuestion,
  kind: SeriesKind,
  { fromMs, toMs, stepMs }: Scale,
  bars: Bars,
  deadline: Deadline,
): void {
  const ids = readSeriesIds(database, { tenant, condition, kind });
  const account = readUsageAccount(database, tenant.account)?.id ?? 0;
  const startMs = Math.floor(fromMs / QUARTER_MS) * QUARTER_MS;
  const quarters = { step: 'quarter', span: { startMs, endMs: toMs } } as const;
  for (const block of readBlocks(database, { account, kind }, quarters, 'counts')) {
    const bar = barAt(bars, Math.floor(block.startMs / stepMs) * stepMs);
    for (let nth = 0; nth < block.series.length; nth++) {
      if (ids !== null && !ids.has(block.series[nth] ?? 0)) continue;
      bar.requests += countCalls(block, nth, outcome);
      bar.errors += countErrors(block, nth, outcome);
    }
  }
  deadline.check();
  const [, to] = idsOf({ startMs: 0, endMs: toMs });
  scanUnfolded(database, to, recordCondition(tenant, condition, outcome), deadline, ({ at_ms, status, error }) => {
    if (at_ms >= startMs && at_ms < toMs)
      countCall(bars, Math.floor(at_ms / stepMs) * stepMs, outcomeOf(status, error));
  });
}

/** Answers false where they are too many. */
function addRecords(
  database: Database,
  question: LogQuestion,
  { fromMs, toMs, stepMs }: Scale,
  bars: Bars,
  deadline: Deadline,
): boolean {
  const { sql, parameters } = recordCondition(question.tenant, question.condition, question.outcome);
  const read = database.prepare<{ at_ms: number; outcome: string }, Parameters>(
    `SELECT at_ms, ${OUTCOME_SQL} AS outcome FROM call_record
      WHERE request_id >= ? AND request_id < ? AND at_ms >= ? AND at_ms < ? AND ${sql} LIMIT ?`,
  );
  let left = COUNTED_MAX;
  try {
    for (const { from, below } of findIds(database, { ...question, beforeId: null })) {
      const rows = read.all(from, below, fromMs, toMs, ...parameters, left);
      for (const { at_ms, outcome } of rows) countCall(bars, Math.floor(at_ms / stepMs) * stepMs, outcome);
      left -= rows.length;
      if (left <= 0) return false;
      deadline.check();
    }
  } finally {
    read.finalize();
  }
  return true;
}

function countCall(bars: Bars, atMs: number, outcome: string): void {
  const bar = barAt(bars, atMs);
  bar.requests += 1;
  if (outcome === 'client_error' || outcome === 'server_error') bar.errors += 1;
}

function barAt(bars: Bars, atMs: number) {
  const bar = bars.get(atMs) ?? { requests: 0, errors: 0 };
  bars.set(atMs, bar);
  return bar;
}
