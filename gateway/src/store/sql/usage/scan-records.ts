/** Owns reading records one after another, in the order of arrival, within a time limit. */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { Condition } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import type { Span } from './plan-spans.ts';
import { SUMMED_COLUMNS, type SummedRecord } from './tally.ts';
import { readThrough } from './usage-mark.ts';

/** Rows between two looks at the clock. */
const PAGE_ROWS = 2_000;
/** An id is made within so much of its call's arrival, whatever the clock was set to meanwhile. */
export const ID_SLACK_MS = 60_000;

/** The ids that calls which arrived within the span can have. */
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

/** Records that are not rolled up yet: those after the mark, with ids below `to`, and those that came late. */
export function scanUnfolded(
  database: Database,
  to: string,
  condition: Condition,
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  const through = readThrough(database);
  // The mark itself is rolled up: its shortest successor is the first that may not be.
  scanRecords(database, [`${through}\u0000`, to], condition, deadline, take);
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
