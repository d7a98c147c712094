/**
 * Lists single calls, with their histogram, the live tail and the detail of one call. The filtered columns other than
 * the trace have no index, for which every call would pay: only the quarters of an hour whose sums include matching calls
 * are read.
 */
import type { Database } from 'bun:sqlite';
import { dayAt } from '../../../admission/window.ts';
import type { CallOrder } from '../../../lib/query/call-order.ts';
import type {
  CallDetail,
  CallEntry,
  CallOutcome,
  LogHistogram,
  LogPage,
  LogQuestion,
  TailQuestion,
  UsageSums,
  UsageTenant,
} from '../../ports/usage.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { findEntryRanges } from '../ledger/entry-ranges.ts';
import { endLines } from '../ledger/statement-reader.ts';
import { queryCondition } from '../query/query-condition.ts';
import { readSorted } from '../query/read-sorted.ts';
import { stepRanges } from '../query/step-ranges.ts';
import { reasonCondition } from '../reasons/read-reasons.ts';
import { OUTCOME_SQL } from '../rollup/tally.ts';
import { readUsageAccount } from '../rollup/usage-accounts.ts';
import { type Condition, kindFor, recordCondition } from './conditions.ts';
import { findIds, type IdRange } from './find-ids.ts';
import { bucketOf, QUARTER_MS } from './plan-spans.ts';
import { readUsage } from './read-usage.ts';
import { type Deadline, ID_SLACK_MS, idsOf, startDeadline } from './scan-records.ts';

/** `cost_nano_usd` is selected twice; the later one wins, and is text. */
const SELECT = 'SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record';
/** Rows between two checks of the clock. */
const PAGE_ROWS = 500;
/** How far the live tail looks back: calls that run longer appear when the list is read again. */
const TAIL_MS = 15 * 60_000;

type Parameters = (string | number | null)[];

/** Within the caller's transaction. A page ends early, with the position to continue from, once `pace` is over. */
export function readLogs(database: Database, question: LogQuestion, pace: Deadline, deadline: Deadline): LogPage {
  const page =
    question.order === undefined
      ? readPage(database, question, pace)
      : readInOrder(database, question, question.order, deadline);
  return { ...page, histogram: question.withHistogram ? readHistogram(database, question, deadline) : null };
}

function readPage(database: Database, question: LogQuestion, pace: Deadline): Omit<LogPage, 'histogram'> {
  const { fromMs, toMs, beforeId, idPrefix, traceId, reason, limit } = question;
  const { sql, parameters } = within(conditionOf(question), { fromMs, toMs });
  const byReason = reason === undefined ? '' : 'INDEXED BY call_record_reason';
  const index = traceId === undefined ? byReason : 'INDEXED BY call_record_trace';
  const read = database.prepare<CallRecordRow, Parameters>(
    `${SELECT} ${index} WHERE request_id >= ? AND request_id < ? AND ${sql} ORDER BY request_id DESC LIMIT ?`,
  );
  const rows: CallRecordRow[] = [];
  const last = () => rows.at(-1)?.request_id ?? null;
  try {
    for (const range of rangesOf(database, question)) {
      const from = idPrefix === null || idPrefix < range.from ? range.from : idPrefix;
      let below = beforeId !== null && beforeId < range.below ? beforeId : range.below;
      if (idPrefix !== null && `${idPrefix}\u{10ffff}` < below) below = `${idPrefix}\u{10ffff}`;
      while (from < below) {
        const found = read.all(from, below, ...parameters, Math.min(PAGE_ROWS, limit + 1 - rows.length));
        rows.push(...found);
        if (rows.length > limit) return { calls: rows.slice(0, limit).map(callRecordOfRow), next: lastOf(rows, limit) };
        if (found.length < PAGE_ROWS) break;
        below = last() ?? below;
      }
      if (pace.isOver()) return { calls: rows.map(callRecordOfRow), next: from };
    }
  } finally {
    read.finalize();
  }
  return { calls: rows.map(callRecordOfRow), next: null };
}

function readInOrder(
  database: Database,
  question: LogQuestion,
  order: CallOrder,
  deadline: Deadline,
): Omit<LogPage, 'histogram'> {
  const { fromMs, toMs, afterPlace: after = null, limit } = question;
  const { sql, parameters } = within(conditionOf(question), { fromMs, toMs });
  const sorted = { order, after, limit, sql, parameters };
  const { rows, next } = readSorted(database, rangesOf(database, question), sorted, deadline);
  return { calls: rows.map(callRecordOfRow), next: null, nextPlace: next };
}

/** Every id is in it. */
const ALL_IDS: IdRange = { from: 'req', below: 'req\u{10ffff}' };

type Matching = Pick<
  LogQuestion,
  | 'tenant'
  | 'condition'
  | 'outcome'
  | 'fromMs'
  | 'toMs'
  | 'ids'
  | 'idPrefix'
  | 'traceId'
  | 'reason'
  | 'terms'
  | 'beforeId'
>;

/** The condition on the records of a question, for other readers of the same calls. */
export function matchingCalls(question: Matching): Condition {
  const { fromMs, toMs } = question;
  return within(conditionOf(question), { fromMs, toMs });
}

/** Ranges of ids, newest first and in steps, that contain every matching call. */
export function matchingRanges(database: Database, question: Matching): Iterable<IdRange> {
  return stepRanges(rangesOf(database, question));
}

/** Ranges of ids, newest first, that contain every matching call. An id prefix is one range; traces and reasons have indexes. */
function* rangesOf(database: Database, question: Matching): Iterable<IdRange> {
  const { ids, idPrefix, traceId, reason, beforeId } = question;
  if (ids !== undefined) yield* ids.map((id) => ({ from: id, below: `${id}\0` }));
  else if (idPrefix !== null) yield { from: idPrefix, below: `${idPrefix}\u{10ffff}` };
  else if (traceId === undefined && reason === undefined) yield* findRanges(database, question);
  else if (beforeId === null || beforeId > ALL_IDS.from) yield ALL_IDS;
}

/** Terms have no sums that narrow the search: it goes in steps, and may stop after each. */
function findRanges(database: Database, question: Matching): Iterable<IdRange> {
  const found = findIds(database, question);
  return (question.terms ?? []).length === 0 ? found : stepRanges(found);
}

function conditionOf({
  tenant,
  condition,
  outcome,
  traceId,
  reason,
  terms = [],
}: Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'traceId' | 'reason' | 'terms'>): Condition {
  const found = reasonCondition(recordCondition(tenant, condition, outcome), reason);
  const queried = queryCondition(terms);
  const all = { sql: found.sql + queried.sql, parameters: [...found.parameters, ...queried.parameters] };
  if (traceId === undefined) return all;
  return { sql: `${all.sql} AND trace_id = ?`, parameters: [...all.parameters, traceId] };
}

function lastOf(rows: readonly CallRecordRow[], limit: number): string | null {
  return rows[limit - 1]?.request_id ?? null;
}

function within(
  { sql, parameters }: Condition,
  { fromMs, toMs }: { readonly fromMs: number | null; readonly toMs: number | null },
): Condition {
  return {
    sql: `${sql} AND at_ms >= ? AND at_ms < ?`,
    parameters: [...parameters, fromMs ?? 0, toMs ?? Number.MAX_SAFE_INTEGER],
  };
}

/** Calls that ended recently, in the order in which they ended. */
export function readTail(database: Database, question: TailQuestion): CallRecordRow[] {
  const { endedMs, nowMs, limit } = question;
  const { sql, parameters } = conditionOf(question);
  const [from] = idsOf({ startMs: nowMs - TAIL_MS + ID_SLACK_MS, endMs: nowMs });
  const read = database.prepare<CallRecordRow, Parameters>(
    `${SELECT} WHERE request_id >= ? AND at_ms + duration_ms >= ? AND ${sql} ORDER BY at_ms + duration_ms LIMIT ?`,
  );
  try {
    return read.all(from, endedMs, ...parameters, limit);
  } finally {
    read.finalize();
  }
}

const NO_CONDITION = {
  model: null,
  provider: null,
  keys: null,
  workspace: null,
  end_user: null,
  session: null,
  protocol: null,
} as const;

const SELECT_CALL = `SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd, cast(held AS TEXT) AS held,
    cast(posted AS TEXT) AS posted, cast(written_off AS TEXT) AS written_off FROM call_record`;
const READ_ENTRIES = `SELECT seq, kind, cast(amount AS TEXT) AS amount, cast(released AS TEXT) AS released, at_ms AS atMs,
    lower(hex(hash)) AS hash
  FROM ledger_entry WHERE seq >= ? AND seq <= ? AND ref = ? AND account = ? ORDER BY seq`;
/** Entries scanned by one statement. */
const ENTRY_PAGE = 50_000;

type EntryRow = Omit<CallEntry, 'amount' | 'released'> & { readonly amount: string; readonly released: string };

/** Amounts as decimal text. */
interface SettledRow extends Omit<CallRecordRow, 'held' | 'posted' | 'written_off'> {
  readonly held: string | null;
  readonly posted: string;
  readonly written_off: string;
}

export function readCall(database: Database, tenant: UsageTenant, requestId: string): CallDetail | null {
  const { sql, parameters } = recordCondition(tenant, NO_CONDITION);
  const read = database.prepare<SettledRow, Parameters>(`${SELECT_CALL} WHERE request_id = ? AND ${sql}`);
  try {
    const row = read.get(requestId, ...parameters);
    if (row === null) return null;
    const { held, posted, written_off, ...record } = row;
    const call = callRecordOfRow({ ...record, held: null, posted: null, written_off: null });
    const entries =
      held === null
        ? readOldEntries(database, tenant.account, requestId)
        : settledEntries(database, { ...record, held: BigInt(held), posted, written_off });
    return { call, entries };
  } finally {
    read.finalize();
  }
}

/** The lines of a call in the journal: its hold with all extensions, and its end. */
function settledEntries(
  database: Database,
  row: Pick<CallRecordRow, 'request_id' | 'at_ms' | 'ended_ms' | 'block'> & {
    readonly held: bigint;
    readonly posted: string;
    readonly written_off: string;
  },
): readonly CallEntry[] {
  const { request_id: ref, at_ms: atMs, held, posted, written_off } = row;
  const seq = row.block ?? 0;
  const hash =
    database.query<{ hash: string }, [number]>('SELECT lower(hex(hash)) AS hash FROM block WHERE seq = ?').get(seq)
      ?.hash ?? '';
  const end = endLines({ ref, ended_ms: row.ended_ms ?? atMs, held, posted, written_off }).reverse();
  const hold = { kind: 'hold', amount: held, released: 0n, atMs } as const;
  return [hold, ...end].map(({ kind, amount, released, atMs }) => ({ seq, kind, amount, released, atMs, hash }));
}

/** The entries of a call from before the journal. */
function readOldEntries(database: Database, account: string, requestId: string): readonly CallEntry[] {
  const entries = database.prepare<EntryRow, [number, number, string, string]>(READ_ENTRIES);
  try {
    return findEntryRanges(database, requestId, requestId, ENTRY_PAGE)
      .flatMap(({ first, last }) => entries.all(first, last, requestId, account))
      .map((one) => ({ ...one, amount: BigInt(one.amount), released: BigInt(one.released) }));
  } finally {
    entries.finalize();
  }
}

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
function readHistogram(database: Database, question: LogQuestion, deadline: Deadline): LogHistogram | null {
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

/** Null where there are too many, or it takes too long. */
function countBars(database: Database, question: LogQuestion, scale: Scale, deadline: Deadline): readonly Bar[] | null {
  const pace = startDeadline((question.terms ?? []).length === 0 ? Number.POSITIVE_INFINITY : COUNT_PACE_MS);
  const { fromMs, toMs } = scale;
  const buckets = beginnings(scale);
  const bars = buckets.map((atMs): Bar => ({ atMs, requests: 0, errors: 0 }));
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
        if (bar === undefined) continue;
        bar.requests += 1;
        if (outcome === 'client_error' || outcome === 'server_error') bar.errors += 1;
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
