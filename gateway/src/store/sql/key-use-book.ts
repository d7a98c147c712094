/** Owns when secrets were last used, over the database: few rows, written together. */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { KeptKeyUse, KeyUseBook } from '../key-use-port.ts';
import type { Tables } from './tables.ts';
import type { Writer } from './writer.ts';

/** One statement for all: a statement for each of ten thousand keys would hold up the writer. */
const KEEP = `INSERT INTO key_use (hash, at_ms, client)
  SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
  ON CONFLICT (hash) DO UPDATE SET at_ms = excluded.at_ms, client = excluded.client`;
/** Secrets that open nothing any more. */
const FORGET =
  'DELETE FROM key_use WHERE hash NOT IN (SELECT hash FROM api_key) AND hash NOT IN (SELECT previous_hash FROM api_key WHERE previous_hash IS NOT NULL)';

/** `far`: queries that may take long. */
export function createKeyUseBook(
  queries: Kysely<Tables>,
  far: Kysely<Tables>,
  writer: Pick<Writer, 'write'>,
): KeyUseBook {
  return {
    async keep(uses) {
      if (uses.length === 0) return;
      const list = JSON.stringify(uses.map(({ hash, atMs, client }) => [hash, atMs, client]));
      await writer.write([
        { sql: KEEP, parameters: [list], changes: uses.length },
        { sql: FORGET, parameters: [], changes: null },
      ]);
    },
    async read() {
      const { rows } = await sql<KeptKeyUse>`SELECT hash, at_ms AS "atMs", client FROM key_use`.execute(queries);
      return rows;
    },
    async readNewestCalls(fromMs) {
      const { rows } = await sql<{ readonly key_id: string; readonly at_ms: number }>`
        SELECT key_id, max(at_ms) AS at_ms FROM call_record
        WHERE request_id >= ${requestIdFloor(Math.max(0, fromMs))} AND at_ms >= ${fromMs} GROUP BY key_id`.execute(far);
      return new Map(rows.map(({ key_id, at_ms }) => [key_id, at_ms]));
    },
  };
}
