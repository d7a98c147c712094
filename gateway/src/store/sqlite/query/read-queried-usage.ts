/**
 * Sums up the requests that meet a query, record by record: rolled-up sums do not know most fields of queries. The
 * chunks find the records of any range; where they find too many, or are not built, the range is limited.
 */
import type { Database } from 'bun:sqlite';
import { type UsageQuestion, UsageRefusal } from '../../ports/usage.ts';
import { openChunkedLogs } from '../chunks/list-chunked.ts';
import { SUMMED_COLUMNS, type SummedRecord } from '../rollup/tally.ts';
import type { Condition } from '../usage/conditions.ts';
import { type Deadline, idsOf, scanRecords } from '../usage/scan-records.ts';
import { matchingCalls } from './log-ranges.ts';

/** Records that are read one by one by their ids; a few hundred milliseconds. */
const FOUND_MAX = 50_000;
const PAGE_IDS = 1_000;
const DAY_MS = 86_400_000;
const SCANNED_DAYS_MAX = 7;

/** Passes each record of the question to `take`. @throws UsageRefusal where there are too many, or the time is over */
export function scanQueried(
  database: Database,
  question: UsageQuestion,
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  const { fromMs, toMs } = question;
  const asked = { ...question, outcome: null, idPrefix: null, beforeId: null, limit: 0, withHistogram: false };
  const condition = matchingCalls(asked);
  const ids = openChunkedLogs(database, asked)?.ids(FOUND_MAX, deadline) ?? null;
  const days = (toMs - fromMs) / DAY_MS;
  if (ids !== null) readFound(database, { ids, condition }, deadline, take);
  else if (days <= SCANNED_DAYS_MAX) {
    scanRecords(database, idsOf({ startMs: fromMs, endMs: toMs }), condition, deadline, take);
  } else throw tooWide(days);
}

const tooWide = (days: number) =>
  new UsageRefusal(
    'too_wide',
    `requests that meet a query are summed up one by one: at most ${FOUND_MAX.toLocaleString('en')}, or those of ${SCANNED_DAYS_MAX} days; found more over ${Math.round(days)} days. Choose a shorter range, or a query that fewer requests meet`,
  );

function readFound(
  database: Database,
  { ids, condition }: { readonly ids: readonly string[]; readonly condition: Condition },
  deadline: Deadline,
  take: (record: SummedRecord) => void,
): void {
  // The condition is that of the tenant and the query: a wrong chunk could not show another tenant's record.
  const read = database.prepare<SummedRecord, (string | number | null)[]>(
    `SELECT ${SUMMED_COLUMNS} FROM json_each(?) AS found CROSS JOIN call_record ON request_id = found.value
      WHERE ${condition.sql}`,
  );
  let records = 0;
  try {
    for (let at = 0; at < ids.length; at += PAGE_IDS) {
      const page = read.all(JSON.stringify(ids.slice(at, at + PAGE_IDS)), ...condition.parameters);
      page.forEach(take);
      records += page.length;
      deadline.check();
    }
    if (records !== ids.length) throw new Error(`chunks name ${ids.length} records; ${records} of them were found`);
  } finally {
    read.finalize();
  }
}
