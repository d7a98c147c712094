/** Owns the queries about keys and workspaces. Reads run here; writes are compiled here and run by the writer. */
import type { CompiledQuery, Kysely } from 'kysely';
import type { PolicyStore } from '../ports.ts';
import { keyOfRow, keyRow, workspaceOfRow, workspaceRow } from './policy-rows.ts';
import type { Tables } from './tables.ts';
import type { Writer } from './writer.ts';
import type { WriteStatement } from './writer-messages.ts';

/** Reading keys and workspaces, without a writer. */
export type PolicyReader = Pick<PolicyStore, 'readKeys' | 'readWorkspaces'>;

/** The reading half of the port. */
export function createPolicyReader(queries: Kysely<Tables>): PolicyReader {
  return {
    async readKeys() {
      const rows = await queries.selectFrom('api_key').selectAll().orderBy('created_at_ms').orderBy('id').execute();
      return rows.map(keyOfRow);
    },
    async readWorkspaces() {
      const rows = await queries.selectFrom('workspace').selectAll().orderBy('created_at_ms').orderBy('id').execute();
      return rows.map(workspaceOfRow);
    },
  };
}

/** The port's implementation over Kysely and the writer. */
export function createPolicyStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): PolicyStore {
  return {
    ...createPolicyReader(queries),
    insertKey(key) {
      return writer.write([changingOne(queries.insertInto('api_key').values(keyRow(key)).compile())]);
    },
    replaceKey(key) {
      const { id, created_at_ms: _, ...members } = keyRow(key);
      return writer.write([changingOne(queries.updateTable('api_key').set(members).where('id', '=', id).compile())]);
    },
    insertWorkspace(workspace) {
      return writer.write([changingOne(queries.insertInto('workspace').values(workspaceRow(workspace)).compile())]);
    },
    replaceWorkspace(workspace) {
      const { id, models } = workspaceRow(workspace);
      return writer.write([
        changingOne(queries.updateTable('workspace').set({ models }).where('id', '=', id).compile()),
      ]);
    },
  };
}

function changingOne({ sql, parameters }: CompiledQuery): WriteStatement {
  return { sql, parameters: parameters as WriteStatement['parameters'], changes: 1 };
}
