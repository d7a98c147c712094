/**
 * Reads, adds and deletes the rows of stored state (the ingest of the journal writes those of calls), and keeps the
 * conversations of responses.
 */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { ConstraintViolation } from '../../ports/store-errors.ts';
import {
  KEPT_BYTES_PER_ACCOUNT_MAX,
  type StateOwner,
  type StoredRow,
  type StoredStateStore,
} from '../../ports/stored-state.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

interface KeptRow extends StateOwner {
  readonly request_id: string;
  readonly bytes: number;
  readonly expires_at_ms: number;
  readonly sealed: Uint8Array;
}
type StoredTables = { stored_state: StoredRow; kept_conversation: KeptRow };

/** Ids looked up at once; SQLite takes 32,766 values. */
const IDS_MAX = 10_000;

/** Implements the port. `accountBytesMax` limits the conversations of one account. */
export function createStoredStateStore(
  all: Kysely<Tables>,
  writer: Pick<Writer, 'write'>,
  accountBytesMax = KEPT_BYTES_PER_ACCOUNT_MAX,
): StoredStateStore {
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
    async keep({ account, workspace }, request_id, sealed, expires_at_ms) {
      const bytes = sealed.length;
      // One row, or none where the account has no room.
      const insert = sql`insert into kept_conversation (request_id, account, workspace, bytes, expires_at_ms, sealed)
        select ${request_id}, ${account}, ${workspace}, ${bytes}, ${expires_at_ms}, ${sealed}
        where ${bytes} + (select coalesce(sum(bytes), 0) from kept_conversation where account = ${account})
          <= ${accountBytesMax}`;
      try {
        await writer.write([statementOf(insert.compile(queries), 1)]);
        return 'kept';
      } catch (fault) {
        if (fault instanceof ConstraintViolation && fault.kind === 'conflict') return 'no_room';
        throw fault;
      }
    },
    async readKept({ account, workspace }, request_id) {
      const kept = queries
        .selectFrom('kept_conversation')
        .select('sealed')
        .where((row) => row.and({ request_id, account, workspace }));
      return (await kept.executeTakeFirst())?.sealed ?? null;
    },
    add(row) {
      const insert = queries.replaceInto('stored_state').values(row);
      return writer.write([statementOf(insert.compile(), null)]);
    },
    addTokens({ account, workspace }, id, tokens) {
      const update = queries
        .updateTable('stored_state')
        .set((row) => ({ tokens: row('tokens', '+', tokens) }))
        .where((row) => row.and({ account, workspace, id }));
      return writer.write([statementOf(update.compile(), null)]);
    },
    list(owner, { kind, providers, purpose, first, after, limit }, nowMs) {
      const [order, beyond] = first === 'newest' ? (['desc', '<'] as const) : (['asc', '>'] as const);
      let rows = rowsOf(owner)
        .where('kind', '=', kind)
        .where('object', 'is not', null)
        .where('provider', 'in', providers)
        .where('expires_at_ms', '>', nowMs);
      if (purpose !== null) rows = rows.where(sql<string>`json_extract(object, '$.purpose')`, '=', purpose);
      if (after !== null) rows = rows.where('request_id', beyond, after);
      return rows.orderBy('request_id', order).limit(limit).execute();
    },
    remove({ account, workspace }, id) {
      const row = queries.deleteFrom('stored_state').where((one) => one.and({ account, workspace, id }));
      return writer.write([statementOf(row.compile(), null)]);
    },
    forget: ({ account, workspace }, request_id) => {
      const owned = { account, workspace, request_id };
      const rows = queries
        .deleteFrom('stored_state')
        .where((row) => row.and(owned))
        .where('kind', 'in', ['response', 'item']);
      const kept = queries.deleteFrom('kept_conversation').where((row) => row.and(owned));
      return writer.write([statementOf(rows.compile(), null), statementOf(kept.compile(), null)]);
    },
    async sweep(nowMs) {
      const count = await queries
        .selectFrom('stored_state')
        .select((row) => row.fn.countAll<number>().as('rows'))
        .where('expires_at_ms', '<=', nowMs)
        .executeTakeFirstOrThrow();
      const left = await queries
        .selectFrom('kept_conversation')
        .select('request_id')
        .where('expires_at_ms', '<=', nowMs)
        .limit(1)
        .executeTakeFirst();
      if (count.rows === 0 && left === undefined) return 0;
      const rows = queries.deleteFrom('stored_state').where('expires_at_ms', '<=', nowMs);
      const kept = queries.deleteFrom('kept_conversation').where('expires_at_ms', '<=', nowMs);
      await writer.write([statementOf(rows.compile(), null), statementOf(kept.compile(), null)]);
      return count.rows;
    },
  };
}

/** `changes`: the number of rows that it must change; null: any. */
function statementOf({ sql: text, parameters }: CompiledQuery, changes: number | null): WriteStatement {
  return { sql: text, parameters: parameters as WriteStatement['parameters'], changes };
}
