/**
 * Owns lists of single calls. There is no index by what they are filtered by, which every call would pay for: the quarters of
 * an hour in which the sums have such calls are read, and no others.
 */
import type { Database } from 'bun:sqlite';
import type { CallDetail, CallEntry, LogPage, LogQuestion, TailQuestion, UsageTenant } from '../../usage-port.ts';
import { callRecordOfRow } from '../call-record-row.ts';
import type { CallRecordRow } from '../tables.ts';
import { type Condition, recordCondition } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import { findIds, type IdRange } from './find-ids.ts';
import { findEntryRanges } from './ledger-stretches.ts';
import { readHistogram } from './read-histogram.ts';
import { ID_SLACK_MS, idsOf } from './scan-records.ts';

/** `cost_nano_usd` stands twice; the later one wins, and is text. */
const SELECT = 'SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record';
/** Rows between two looks at the clock. */
const PAGE_ROWS = 500;
/** Records that the live tail looks back over: calls that run longer are seen once the list is read anew. */
const TAIL_MS = 15 * 60_000;

type Parameters = (string | number | null)[];

/** Within a transaction of the caller. A page ends early, with where to go on, once `pace` is over. */
export function readLogs(database: Database, question: LogQuestion, pace: Deadline, deadline: Deadline): LogPage {
  const page = readPage(database, question, pace);
  return { ...page, histogram: question.withHistogram ? readHistogram(database, question, deadline) : null };
}

function readPage(database: Database, question: LogQuestion, pace: Deadline): Omit<LogPage, 'histogram'> {
  const { tenant, condition, outcome, fromMs, toMs, beforeId, idPrefix, limit } = question;
  const { sql, parameters } = within(recordCondition(tenant, condition, outcome), { fromMs, toMs });
  const read = database.prepare<CallRecordRow, Parameters>(
    `${SELECT} WHERE request_id >= ? AND request_id < ? AND ${sql} ORDER BY request_id DESC LIMIT ?`,
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

/** Ranges of ids, the newest first, that hold every call asked for. A prefix is a range by itself. */
function* rangesOf(database: Database, question: LogQuestion): Iterable<IdRange> {
  if (question.idPrefix !== null) yield { from: question.idPrefix, below: `${question.idPrefix}\u{10ffff}` };
  else yield* findIds(database, question);
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

/** Calls that ended lately, in the order of their ends. */
export function readTail(database: Database, question: TailQuestion): CallRecordRow[] {
  const { tenant, condition, outcome, endedMs, nowMs, limit } = question;
  const { sql, parameters } = recordCondition(tenant, condition, outcome);
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

const READ_ENTRIES = `SELECT seq, kind, cast(amount AS TEXT) AS amount, cast(released AS TEXT) AS released, at_ms AS atMs,
    lower(hex(hash)) AS hash
  FROM ledger_entry WHERE seq >= ? AND seq <= ? AND ref = ? AND account = ? ORDER BY seq`;
/** Entries that are looked through by one statement. */
const ENTRY_PAGE = 50_000;

type EntryRow = Omit<CallEntry, 'amount' | 'released'> & { readonly amount: string; readonly released: string };

export function readCall(database: Database, tenant: UsageTenant, requestId: string): CallDetail | null {
  const { sql, parameters } = recordCondition(tenant, NO_CONDITION);
  const read = database.prepare<CallRecordRow, Parameters>(`${SELECT} WHERE request_id = ? AND ${sql}`);
  const entries = database.prepare<EntryRow, [number, number, string, string]>(READ_ENTRIES);
  try {
    const row = read.get(requestId, ...parameters);
    if (row === null) return null;
    const found = findEntryRanges(database, requestId, requestId, ENTRY_PAGE).flatMap(({ first, last }) =>
      entries.all(first, last, requestId, tenant.account),
    );
    return {
      call: callRecordOfRow(row),
      entries: found.map((one) => ({ ...one, amount: BigInt(one.amount), released: BigInt(one.released) })),
    };
  } finally {
    read.finalize();
    entries.finalize();
  }
}
