/**
 * Lists single calls, with their histogram, the live tail and the detail of one call. The filtered columns have no
 * index, for which every call would pay: filters and orders read the chunks of their columns. Before those are built,
 * only the quarters of an hour are read whose sums include matching calls.
 */
import type { Database } from 'bun:sqlite';
import type { CallOrder } from '../../../lib/query/call-order.ts';
import type { CallDetail, CallEntry, LogPage, LogQuestion, TailQuestion, UsageTenant } from '../../ports/usage.ts';
import { type ChunkedLogs, openChunkedLogs } from '../chunks/list-chunked.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { findEntryRanges } from '../ledger/entry-ranges.ts';
import { endLines } from '../ledger/statement-reader.ts';
import { conditionOf, matchingCalls, rangesOf } from '../query/log-ranges.ts';
import { readHistogram } from '../query/read-histogram.ts';
import { readRows, readSorted, showPlaces } from '../query/read-sorted.ts';
import { recordCondition } from './conditions.ts';
import { type Deadline, ID_SLACK_MS, idsOf } from './scan-records.ts';

/** `cost_nano_usd` is selected twice; the later one wins, and is text. */
const SELECT = 'SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record';
/** Rows between two checks of the clock. */
const PAGE_ROWS = 500;
/** How far the live tail looks back: calls that run longer appear when the list is read again. */
const TAIL_MS = 15 * 60_000;

type Parameters = (string | number | null)[];

/** Within the caller's transaction. A page ends early, with the position to continue from, once `pace` is over. */
export function readLogs(database: Database, question: LogQuestion, pace: Deadline, deadline: Deadline): LogPage {
  const chunked = isPlain(question) ? null : openChunkedLogs(database, question);
  const page =
    chunked === null
      ? readUnchunked(database, question, pace, deadline)
      : readChunked(database, question, chunked, deadline);
  const histogram = question.withHistogram ? readHistogram(database, question, chunked, deadline) : null;
  return { ...page, histogram };
}

/** The newest of all requests are at the end of the table. */
function isPlain({ tenant, condition, outcome, terms = [], order }: LogQuestion): boolean {
  const isAny = outcome === null && terms.length === 0 && Object.values(condition).every((value) => value === null);
  return isAny && tenant.workspaces === null && order === undefined;
}

type Page = Omit<LogPage, 'histogram'>;

function readUnchunked(database: Database, question: LogQuestion, pace: Deadline, deadline: Deadline): Page {
  const { order } = question;
  return order === undefined ? readPage(database, question, pace) : readInOrder(database, question, order, deadline);
}

function readChunked(database: Database, question: LogQuestion, chunked: ChunkedLogs, deadline: Deadline): Page {
  const { order, afterPlace: after = null, limit } = question;
  const condition = matchingCalls(question);
  if (order !== undefined) {
    const places = chunked.sorted(order, after, limit + 1, deadline);
    const { rows, next } = showPlaces(database, places, { order, after, limit, ...condition });
    return { calls: rows.map(callRecordOfRow), next: null, nextPlace: next };
  }
  const ids = chunked.newest(limit + 1, deadline);
  const rows = readRows(database, ids.slice(0, limit), condition);
  return { calls: rows.map(callRecordOfRow), next: ids.length > limit ? lastOf(rows, limit) : null };
}

function readPage(database: Database, question: LogQuestion, pace: Deadline): Page {
  const { beforeId, idPrefix, traceId, reason, limit } = question;
  const { sql, parameters } = matchingCalls(question);
  const byReason = reason === undefined ? '' : 'INDEXED BY call_record_reason';
  const index = traceId === undefined ? byReason : 'INDEXED BY call_record_trace';
  const read = database.prepare<CallRecordRow, Parameters>(
    `${SELECT} ${index} WHERE request_id >= ? AND request_id < ? AND ${sql} ORDER BY request_id DESC LIMIT ?`,
  );
  const rows: CallRecordRow[] = [];
  const last = () => rows.at(-1)?.request_id ?? null;
  let reached: string | null = null;
  try {
    for (const range of rangesOf(database, question)) {
      if (reached !== null && pace.isOver()) return { calls: rows.map(callRecordOfRow), next: reached };
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
      reached = from;
    }
  } finally {
    read.finalize();
  }
  return { calls: rows.map(callRecordOfRow), next: null };
}

function readInOrder(database: Database, question: LogQuestion, order: CallOrder, deadline: Deadline): Page {
  const { afterPlace: after = null, limit } = question;
  const { sql, parameters } = matchingCalls(question);
  const sorted = { order, after, limit, sql, parameters };
  const { rows, next } = readSorted(database, rangesOf(database, question), sorted, deadline);
  return { calls: rows.map(callRecordOfRow), next: null, nextPlace: next };
}

function lastOf(rows: readonly CallRecordRow[], limit: number): string | null {
  return rows[limit - 1]?.request_id ?? null;
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
