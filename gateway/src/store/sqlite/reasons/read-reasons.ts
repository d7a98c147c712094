/**
 * Groups failed requests by their reason. Reads the index of failed requests only, newest first, and stops where the time
 * is over: the answer says how far it came.
 */
import type { Database } from 'bun:sqlite';
import type { ReasonGroup, ReasonsAnswer, ReasonsQuestion } from '../../ports/usage.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { queryCondition } from '../query/query-condition.ts';
import { type Condition, recordCondition } from '../usage/conditions.ts';
import { type Deadline, idsOf } from '../usage/scan-records.ts';

/** Rows between two checks of the clock. */
const PAGE_ROWS = 5_000;
/** Groups that are returned with their newest request. */
const GROUPS_MAX = 100;

type Row = [requestId: string, group: string];

interface Count {
  requests: number;
  /** Ids of requests. */
  readonly newest: string;
  oldest: string;
}

export function readReasons(database: Database, question: ReasonsQuestion, deadline: Deadline): ReasonsAnswer {
  const { groups, counted, reachedId } = countGroups(database, question, deadline);
  const ranked = [...groups].sort(
    ([, one], [, other]) => other.requests - one.requests || (one.newest < other.newest ? 1 : -1),
  );
  const shown = ranked.slice(0, GROUPS_MAX);
  const read = database.prepare<CallRecordRow, [string]>(
    'SELECT *, cast(cost_nano_usd AS TEXT) AS cost_nano_usd FROM call_record WHERE request_id = ?',
  );
  try {
    const rowOf = (id: string): CallRecordRow => {
      const row = read.get(id);
      if (row === null) throw new Error(`the record of call ${id} is missing`);
      return row;
    };
    return {
      groups: shown.map(([group, { requests, newest, oldest }]): ReasonGroup => {
        const call = callRecordOfRow(rowOf(newest));
        return { group, requests, newest: call, oldestMs: rowOf(oldest).at_ms };
      }),
      requests: counted,
      otherGroups: ranked.length - shown.length,
      countedFromMs: reachedId === null ? null : rowOf(reachedId).at_ms,
    };
  } finally {
    read.finalize();
  }
}

/** `reachedId`: where the time was over; null: all were counted. */
function countGroups(
  database: Database,
  { tenant, condition, outcome, fromMs, toMs, reason, terms = [] }: ReasonsQuestion,
  deadline: Deadline,
) {
  const known = reasonCondition(recordCondition(tenant, condition, outcome), reason);
  const queried = queryCondition(terms);
  const matching = { sql: known.sql + queried.sql, parameters: [...known.parameters, ...queried.parameters] };
  const [from, to] = idsOf({ startMs: fromMs, endMs: toMs });
  const read = database.prepare<Row, (string | number | null)[]>(
    `SELECT request_id, reason_group FROM call_record INDEXED BY call_record_reason
      WHERE request_id >= ? AND request_id < ? AND at_ms >= ? AND at_ms < ? AND reason IS NOT NULL AND reason_group IS NOT NULL AND ${matching.sql}
      ORDER BY request_id DESC LIMIT ${PAGE_ROWS}`,
  );
  const groups = new Map<string, Count>();
  let counted = 0;
  let below = to;
  try {
    for (;;) {
      const rows = read.values(from, below, fromMs, toMs, ...matching.parameters) as Row[];
      for (const [id, group] of rows) {
        const count = groups.get(group);
        if (count === undefined) groups.set(group, { requests: 1, newest: id, oldest: id });
        else {
          count.requests += 1;
          count.oldest = id;
        }
      }
      counted += rows.length;
      below = rows.at(-1)?.[0] ?? below;
      if (rows.length < PAGE_ROWS) return { groups, counted, reachedId: null };
      if (deadline.isOver()) return { groups, counted, reachedId: below };
    }
  } finally {
    read.finalize();
  }
}

/** `reason`: a kind, or a group as `ReasonGroup.group`, which is a JSON list. Undefined: any request. */
export function reasonCondition({ sql, parameters }: Condition, reason: string | undefined): Condition {
  if (reason === undefined) return { sql, parameters };
  const column = reason.startsWith('[') ? 'reason_group' : 'reason_kind';
  return { sql: `${sql} AND reason IS NOT NULL AND ${column} = ?`, parameters: [...parameters, reason] };
}
