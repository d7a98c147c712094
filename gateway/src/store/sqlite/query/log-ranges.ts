/** Builds the condition of a list of requests, and finds the ranges of ids that contain its requests. */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { LogQuestion } from '../../ports/usage.ts';
import { reasonCondition } from '../reasons/read-reasons.ts';
import { type Condition, recordCondition } from '../usage/conditions.ts';
import { findIds, type IdRange } from '../usage/find-ids.ts';
import { queryCondition } from './query-condition.ts';

export function conditionOf({
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

function within(
  { sql, parameters }: Condition,
  { fromMs, toMs }: { readonly fromMs: number | null; readonly toMs: number | null },
): Condition {
  return {
    sql: `${sql} AND at_ms >= ? AND at_ms < ?`,
    parameters: [...parameters, fromMs ?? 0, toMs ?? Number.MAX_SAFE_INTEGER],
  };
}

/** Every id is in it. */
export const ALL_IDS: IdRange = { from: 'req', below: 'req\u{10ffff}' };

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

/** The condition on the records of a question. */
export function matchingCalls(question: Matching): Condition {
  return within(conditionOf(question), question);
}

/** Ranges of ids, newest first and in steps, that contain every matching call. */
export function matchingRanges(database: Database, question: Matching): Iterable<IdRange> {
  return stepRanges(rangesOf(database, question));
}

/** Ranges of ids, newest first, that contain every matching call. An id prefix is one range; traces and reasons have indexes. */
export function* rangesOf(database: Database, question: Matching): Iterable<IdRange> {
  const { ids, idPrefix, traceId, reason, beforeId } = question;
  if (ids !== undefined) yield* ids.map((id) => ({ from: id, below: `${id}\0` }));
  else if (idPrefix !== null) yield { from: idPrefix, below: `${idPrefix}\u{10ffff}` };
  else if (traceId === undefined && reason === undefined) yield* findRanges(database, question);
  else if (beforeId === null || beforeId > ALL_IDS.from) yield ALL_IDS;
}

/** Terms have no sums that narrow the search: it goes in steps, and may stop after each. */
export function findRanges(database: Database, question: Matching): Iterable<IdRange> {
  const found = findIds(database, question);
  return (question.terms ?? []).length === 0 ? found : stepRanges(found);
}

const FIRST_STEP_MS = 3_600_000;
/** A step that took less is doubled, one that took longer is halved. */
const SHORT_MS = 10;
const LONG_MS = 40;
const STEP_MS_MIN = 60_000;

/**
 * Divides ranges of ids into steps, newest first, each as long as some milliseconds of reading allow: a search for rare
 * records can then stop within a range, and continue there. The reader of a step has read it when it asks for the next.
 */
function* stepRanges(ranges: Iterable<IdRange>, nowMs = Date.now): Iterable<IdRange> {
  let stepMs = FIRST_STEP_MS;
  for (const { from, below } of ranges) {
    let end = below;
    let endMs = timeOf(below) ?? nowMs();
    for (;;) {
      const startMs = endMs - stepMs;
      const start = requestIdFloor(startMs);
      const isLast = startMs <= 0 || start <= from;
      const beganMs = performance.now();
      yield { from: isLast ? from : start, below: end };
      if (isLast) break;
      const tookMs = performance.now() - beganMs;
      if (tookMs < SHORT_MS) stepMs *= 2;
      else if (tookMs > LONG_MS) stepMs = Math.max(STEP_MS_MIN, stepMs / 2);
      end = start;
      endMs = startMs;
    }
  }
}

/** Unix ms of an id; null: the bound of a range that has no end. */
function timeOf(id: string): number | null {
  const [, digits] = /^req_([0-9a-f]{12})/.exec(id) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}
