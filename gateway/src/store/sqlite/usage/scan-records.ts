/** Reads records one after another, in the order of arrival, within a time limit. */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { UsageRefusal } from '../../ports/usage.ts';
import { SUMMED_COLUMNS, type SummedRecord } from '../rollup/tally.ts';
import { readUsageMark, type UsageMark } from '../rollup/usage-mark.ts';
import type { Condition } from './conditions.ts';
import type { Span } from './plan-spans.ts';

/** Rows between two checks of the clock. */
const PAGE_ROWS = 2_000;
/** The time in an id differs from its call's arrival by at most this, even when the clock is set in between. */
export const ID_SLACK_MS = 60_000;

/** The range of ids that calls arriving within the span can have. */
export function idsOf({ startMs, endMs }: Span): readonly [from: string, to: string] {
  return [requestIdFloor(startMs - ID_SLACK_MS), requestIdFloor(endMs + ID_SLACK_MS)];
}

/** Records whose ids are at least `from` and below `to`. */
export function scanRecords(
  database: Database,
  [from, to]: readonly [from: string, to: string],
  condition: Condition,
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  const read = database.prepare<SummedRecord, (string | number | null)[]>(
    `SELECT ${SUMMED_COLUMNS} FROM call_record WHERE request_id >= ? AND request_id > ? AND request_id < ? AND ${condition.sql}
      ORDER BY request_id LIMIT ${PAGE_ROWS}`,
  );
  try {
    let last = '';
    for (;;) {
      const records = read.all(from, last, to, ...condition.parameters);
      for (const record of records) take(record);
      if (records.length < PAGE_ROWS) return;
      last = records.at(-1)?.request_id ?? to;
      deadline.check();
    }
  } finally {
    read.finalize();
  }
}

/** The records that are not rolled up yet, in one state of the database. */
export interface Unfolded {
  readonly mark: UsageMark;
  scan(condition: Condition, take: (record: SummedRecord) => void): void;
}

/** Maximum number of records cached for the next question about the same calls: 5 MB. */
const KEPT_MAX = 20_000;

/** Must run inside a transaction, which sees one state. Reads only the mark at first. */
export function openUnfolded(database: Database): Unfolded {
  const mark = readUsageMark(database);
  const kept = new Map<string, readonly SummedRecord[]>();
  return {
    mark,
    scan(condition, take) {
      const key = JSON.stringify(condition);
      const known = kept.get(key) ?? readUnfolded(database, mark, condition);
      if (known.length <= KEPT_MAX) kept.set(key, known);
      known.forEach(take);
    },
  };
}

function readUnfolded(database: Database, { block }: UsageMark, { sql, parameters }: Condition): SummedRecord[] {
  const read = database.prepare<SummedRecord, (string | number | null)[]>(
    `SELECT ${SUMMED_COLUMNS} FROM call_record INDEXED BY call_record_block WHERE block > ? AND ${sql}`,
  );
  try {
    return read.all(block, ...parameters);
  } finally {
    read.finalize();
  }
}

/** Records of calls that arrived within the span and are rolled up. */
export function scanRolled(
  database: Database,
  { mark }: Unfolded,
  { startMs, endMs }: Span,
  condition: Condition,
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  const rolled = {
    sql: `${condition.sql} AND at_ms >= ? AND at_ms < ? AND (block IS NULL OR block <= ?)`,
    parameters: [...condition.parameters, startMs, endMs, mark.block],
  };
  scanRecords(database, idsOf({ startMs, endMs }), rolled, deadline, take);
}

export interface Deadline {
  /** @throws UsageRefusal once the time limit has passed. */
  check(): void;
  isOver(): boolean;
}

export function startDeadline(timeMsMax: number): Deadline {
  const endMs = performance.now() + timeMsMax;
  return {
    isOver: () => performance.now() > endMs,
    check() {
      if (performance.now() <= endMs) return;
      throw new UsageRefusal(
        'too_long',
        `this takes longer than ${timeMsMax / 1_000} s to sum up; choose a shorter range, or fewer calls by a filter`,
      );
    },
  };
}
