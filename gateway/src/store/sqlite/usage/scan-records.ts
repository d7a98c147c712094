/** Reads records one after another, in the order of arrival, within a time limit. */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { UsageRefusal } from '../../ports/usage.ts';
import { SUMMED_COLUMNS, type SummedRecord } from '../rollup/tally.ts';
import { readThrough } from '../rollup/usage-mark.ts';
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
  /** The last record that is rolled up. */
  readonly through: string;
  /** Reads records after the mark with ids below `to`, or some beyond it, and late records. */
  scan(to: string, condition: Condition, deadline: Deadline, take: (record: SummedRecord) => void): void;
}

/** Maximum number of records cached for the next question about the same calls: the backlog of a busy server, 5 MB. */
const KEPT_MAX = 20_000;

/** Must run inside a transaction, which sees one state. Reads only the mark at first. */
export function openUnfolded(database: Database): Unfolded {
  const through = readThrough(database);
  const kept = new Map<string, readonly SummedRecord[]>();
  return {
    through,
    scan(to, condition, deadline, take) {
      const key = JSON.stringify(condition);
      const known = kept.get(key);
      if (known !== undefined) return known.forEach(take);
      const read: SummedRecord[] = [];
      const isWhole = to > newestId(database);
      const takeAndKeep = (record: SummedRecord) => {
        if (isWhole && read.length <= KEPT_MAX) read.push(record);
        take(record);
      };
      // The record at the mark is rolled up: the shortest successor of its id is the first that may not be.
      scanRecords(database, [`${through}\u0000`, to], condition, deadline, takeAndKeep);
      scanLate(database, through, condition, takeAndKeep);
      if (isWhole && read.length <= KEPT_MAX) kept.set(key, read);
    },
  };
}

function newestId(database: Database): string {
  const row = database.query<{ newest: string | null }, []>('SELECT max(request_id) AS newest FROM call_record').get();
  return row?.newest ?? '';
}

function scanLate(
  database: Database,
  through: string,
  condition: Condition,
  take: (record: SummedRecord) => void,
): void {
  const read = database.prepare<SummedRecord, (string | number | null)[]>(
    `SELECT ${SUMMED_COLUMNS} FROM usage_late CROSS JOIN call_record USING (request_id)
      WHERE request_id <= ? AND ${condition.sql}`,
  );
  try {
    for (const record of read.all(through, ...condition.parameters)) take(record);
  } finally {
    read.finalize();
  }
}

/** Records of calls that arrived within the span and are rolled up. */
export function scanRolled(
  database: Database,
  { through }: Unfolded,
  { startMs, endMs }: Span,
  condition: Condition,
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  const [from, to] = idsOf({ startMs, endMs });
  const next = `${through}\u0000`;
  const rolled = {
    sql: `${condition.sql} AND at_ms >= ? AND at_ms < ?
      AND NOT EXISTS (SELECT 1 FROM usage_late WHERE usage_late.request_id = call_record.request_id)`,
    parameters: [...condition.parameters, startMs, endMs],
  };
  scanRecords(database, [from, to < next ? to : next], rolled, deadline, take);
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
