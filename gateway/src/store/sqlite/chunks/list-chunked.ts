/**
 * Lists requests by the chunks of their account and by the records that are in none yet: the newest, the first in an
 * order, or their number in each bar of a histogram.
 */
import type { Database } from 'bun:sqlite';
import type { CallOrder } from '../../../lib/query/call-order.ts';
import type { CallPlace, LogQuestion } from '../../ports/usage.ts';
import { ALL_IDS, matchingCalls } from '../query/log-ranges.ts';
import { comparePlaces, readPlaces } from '../query/read-sorted.ts';
import { OUTCOME_SQL } from '../rollup/tally.ts';
import type { Condition } from '../usage/conditions.ts';
import type { Deadline } from '../usage/scan-records.ts';
import { type ChunkSearch, firstPlaces } from './chunk-order.ts';
import { chunkTerms } from './chunk-terms.ts';
import { type Chunk, type ChunkSpan, idOf, matchRows, unchunkedCondition, withChunks } from './read-chunks.ts';

export interface ChunkedLogs {
  /** Ids of the first `count` records, the newest first. @throws UsageRefusal if the time is over */
  newest(count: number, deadline: Deadline): readonly string[];
  /** @throws UsageRefusal if the time is over */
  sorted(order: CallOrder, after: CallPlace | null, count: number, deadline: Deadline): readonly CallPlace[];
  /** Ids of all records, in no order; null: more than `max`. @throws UsageRefusal if the time is over */
  ids(max: number, deadline: Deadline): readonly string[] | null;
  /** Calls `take` for every record, in no order. @throws UsageRefusal if the time is over */
  count(take: (atMs: number, outcome: string) => void, deadline: Deadline): void;
}

/** Null: the chunks cannot answer the question, or are not built yet. */
export function openChunkedLogs(database: Database, question: LogQuestion): ChunkedLogs | null {
  const { tenant, ids, idPrefix, traceId, reason } = question;
  if (ids !== undefined || idPrefix !== null || traceId !== undefined || reason !== undefined) return null;
  const unchunked = unchunkedCondition(database, tenant.account);
  return unchunked === null ? null : chunkedLogs(database, question, unchunked);
}

function chunkedLogs(database: Database, question: LogQuestion, unchunked: Condition): ChunkedLogs {
  const { tenant, fromMs, toMs, beforeId } = question;
  const span: ChunkSpan = {
    account: tenant.account,
    fromMs: fromMs ?? 0,
    toMs: toMs ?? Number.MAX_SAFE_INTEGER,
  };
  const terms = chunkTerms(question);
  const own = matchingCalls(question);
  const sql = `${unchunked.sql} AND ${own.sql}`;
  const parameters = [...unchunked.parameters, ...own.parameters];

  function readUnchunked<Row>(columns: string, rest: string, more: readonly (string | number)[]): readonly Row[] {
    const read = database.prepare<Row, (string | number | null)[]>(
      `SELECT ${columns} FROM call_record WHERE ${sql} ${rest}`,
    );
    try {
      return read.all(...parameters, ...more);
    } finally {
      read.finalize();
    }
  }

  return {
    newest(count, deadline) {
      const below = beforeId ?? ALL_IDS.below;
      const others = readUnchunked<{ id: string }>(
        'request_id AS id',
        'AND request_id < ? ORDER BY request_id DESC LIMIT ?',
        [below, count],
      ).map(({ id }) => id);
      deadline.check();
      return withChunks(database, span, (chunks) =>
        newestIds(chunks, { span, terms, count }, { below, others }, deadline),
      );
    },
    sorted(order, after, count, deadline) {
      const others = readPlaces(database, [ALL_IDS], { order, after, limit: count - 1, sql, parameters }, deadline);
      const found = withChunks(database, span, (chunks) =>
        firstPlaces(chunks, { span, terms, count }, { order, after }, deadline),
      );
      return [...others, ...found].sort(comparePlaces(order)).slice(0, count);
    },
    ids(max, deadline) {
      const ids = readUnchunked<{ id: string }>('request_id AS id', '', []).map(({ id }) => id);
      return withChunks(database, span, (chunks) => {
        for (const chunk of chunks) {
          if (ids.length > max) return null;
          deadline.check();
          const rows = matchRows(chunk, span, terms);
          if (rows === null) continue;
          const column = chunk.column('id');
          for (const [row, isMet] of rows.entries()) if (isMet === 1) ids.push(idOf(column, row));
        }
        return ids.length > max ? null : ids;
      });
    },
    count(take, deadline) {
      const others = readUnchunked<{ at: number; outcome: string }>(`at_ms AS at, ${OUTCOME_SQL} AS outcome`, '', []);
      for (const { at, outcome } of others) take(at, outcome);
      withChunks(database, span, (chunks) => {
        for (const chunk of chunks) {
          deadline.check();
          const rows = matchRows(chunk, span, terms);
          if (rows !== null) countRows(chunk, rows, take);
        }
      });
    },
  };
}

function newestIds(
  chunks: readonly Chunk[],
  { span, terms, count }: ChunkSearch,
  { below, others }: { readonly below: string; readonly others: readonly string[] },
  deadline: Deadline,
): readonly string[] {
  let newest = others;
  for (const chunk of chunks) {
    const last = newest[count - 1];
    // All further chunks end before this one.
    if (last !== undefined && chunk.lastId < last) break;
    deadline.check();
    if (chunk.firstId >= below) continue;
    const rows = matchRows(chunk, span, terms);
    if (rows === null) continue;
    const ids = chunk.column('id');
    const found: string[] = [];
    for (let row = rows.length - 1; row >= 0 && found.length < count; row--) {
      if (rows[row] === 0) continue;
      const id = idOf(ids, row);
      if (id < below) found.push(id);
    }
    newest = [...newest, ...found].sort((one, other) => (one < other ? 1 : -1)).slice(0, count);
  }
  return newest;
}

function countRows(chunk: Chunk, rows: Uint8Array, take: (atMs: number, outcome: string) => void): void {
  const times = chunk.column('at');
  const outcomes = chunk.column('outcome');
  const names = Array.from({ length: outcomes.count + 1 }, (_, code) => String(outcomes.valueOf(code) ?? ''));
  for (let row = 0; row < rows.length; row++) {
    if (rows[row] === 0) continue;
    take(Number(times.valueOf(times.codes[row] ?? 0)), names[outcomes.codes[row] ?? 0] ?? '');
  }
}
