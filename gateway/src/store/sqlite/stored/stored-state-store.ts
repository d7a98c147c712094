/** Reads and deletes the rows of stored state; the ingest of the journal writes them. */
import type { Kysely } from 'kysely';
import type { StateOwner, StoredRow, StoredStateStore } from '../../ports/stored-state.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

type StoredTables = { stored_state: StoredRow };

/** Ids looked up at once; SQLite takes 32,766 values. */
const IDS_MAX = 10_000;

/** Implements the port. */
export function createStoredStateStore(all: Kysely<Tables>, writer: Pick<Writer, 'write'>): StoredStateStore {
  const queries = all.withTables<StoredTables>();
  const rowsOf = ({ account, workspace }: StateOwner) =>
    queries.selectFrom('stored_state').selectAll().where('account', '=', account).where('workspace', '=', workspace);
  return {
    async find(owner, ids, nowMs) {
      const rows: StoredRow[] = [];
      for (let at = 0; at < ids.length; at += IDS_MAX) {
        const some = ids.slice(at, at + IDS_MAX);
        const found = rowsOf(owner).where('id', 'in', some).where('expires_at_ms', '>', nowMs);
        rows.push(...(await found.execute()));
      }
      return rows;
    },
    forget: ({ account, workspace }, request_id) => {
      const gone = queries
        .deleteFrom('stored_state')
        .where((row) => row.and({ account, workspace, request_id }))
        .compile();
      return writer.write([
        { sql: gone.sql, parameters: gone.parameters as WriteStatement['parameters'], changes: null },
      ]);
    },
    async sweep(nowMs) {
      const expired = queries.selectFrom('stored_state').where('expires_at_ms', '<=', nowMs);
      const { count } = await expired.select((row) => row.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
      if (count === 0) return 0;
      const gone = queries.deleteFrom('stored_state').where('expires_at_ms', '<=', nowMs).compile();
      await writer.write([
        { sql: gone.sql, parameters: gone.parameters as WriteStatement['parameters'], changes: null },
      ]);
      return count;
    },
  };
}
