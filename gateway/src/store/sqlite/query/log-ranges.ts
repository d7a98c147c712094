/** Builds the condition of a list of requests, and finds the ranges of ids that contain its requests. */
import type { Database } from 'bun:sqlite';
import type { LogQuestion } from '../../ports/usage.ts';
import { reasonCondition } from '../reasons/read-reasons.ts';
import { type Condition, recordCondition } from '../usage/conditions.ts';
import { findIds, type IdRange } from '../usage/find-ids.ts';
import { queryCondition } from './query-condition.ts';
import { stepRanges } from './step-ranges.ts';

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
