/** Reads records of calls. */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallReader } from '../../ports/records.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from './call-record-row.ts';

/** Implements the port over Kysely. */
export function createCallReader(queries: Kysely<Tables>): CallReader {
  return {
    async readCalls({ limit, sinceMs, requestId, keyId, traceId }) {
      let calls = queries
        .selectFrom('call_record')
        .selectAll()
        // As text: beyond 2^53 a number would silently lose its last digits.
        .select(sql<string | null>`cast(cost_nano_usd as text)`.as('cost_nano_usd'))
        .orderBy('request_id', 'desc')
        .limit(limit);
      // The floor on the request id limits the rows read: no call with a lower id arrived since then.
      if (sinceMs !== null)
        calls = calls.where('request_id', '>=', requestIdFloor(sinceMs)).where('at_ms', '>=', sinceMs);
      if (requestId !== null) calls = calls.where('request_id', '=', requestId);
      if (keyId !== null) calls = calls.where('key_id', '=', keyId);
      if (traceId !== undefined) calls = calls.where('trace_id', '=', traceId);
      return (await calls.execute()).map(callRecordOfRow);
    },
  };
}
