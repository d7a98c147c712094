/** Owns the queries over call records. */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { CallReader } from '../../ports/records.ts';
import type { Tables } from '../tables.ts';
import { callRecordOfRow } from './call-record-row.ts';

/** The port's implementation over Kysely. */
export function createCallReader(queries: Kysely<Tables>): CallReader {
  return {
    async readCalls({ limit, sinceMs, requestId, keyId }) {
      let calls = queries
        .selectFrom('call_record')
        .selectAll()
        // As text: beyond 2^53 a number would lose its last digits without a word.
        .select(sql<string | null>`cast(cost_nano_usd as text)`.as('cost_nano_usd'))
        .orderBy('request_id', 'desc')
        .limit(limit);
      // The floor bounds what is read; what came before it cannot have arrived since.
      if (sinceMs !== null)
        calls = calls.where('request_id', '>=', requestIdFloor(sinceMs)).where('at_ms', '>=', sinceMs);
      if (requestId !== null) calls = calls.where('request_id', '=', requestId);
      if (keyId !== null) calls = calls.where('key_id', '=', keyId);
      return (await calls.execute()).map(callRecordOfRow);
    },
  };
}
