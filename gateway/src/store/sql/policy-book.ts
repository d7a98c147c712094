/** Owns policy over the database: reads run here; changes are compiled here and run by the writer, all or none. */
import type { CompiledQuery, Kysely } from 'kysely';
import type { PolicyBook, PolicyChange, PolicyReader } from '../policy-port.ts';
import { compileAccountChange, readAccounts } from './account-store.ts';
import { auditStatement } from './audit-trail.ts';
import { compileRuleChange, readLimitRules } from './limit-rule-store.ts';
import { keyOfRow, keyRow, workspaceOfRow, workspaceRow } from './policy-rows.ts';
import type { Tables } from './tables.ts';
import type { Writer } from './writer.ts';
import type { WriteStatement } from './writer-messages.ts';

/** The reading half of the port. */
export function createPolicyBookReader(queries: Kysely<Tables>): PolicyReader {
  return {
    async readKeys() {
      const rows = await queries.selectFrom('api_key').selectAll().orderBy('created_at_ms').orderBy('id').execute();
      return rows.map(keyOfRow);
    },
    async readWorkspaces() {
      const rows = await queries.selectFrom('workspace').selectAll().orderBy('created_at_ms').orderBy('id').execute();
      return rows.map(workspaceOfRow);
    },
    readAccounts: () => readAccounts(queries),
    readLimitRules: () => readLimitRules(queries),
  };
}

/** The port's implementation over Kysely and the writer. */
export function createPolicyBook(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): PolicyBook {
  return {
    ...createPolicyBookReader(queries),
    keep: (changes, entries = []) =>
      writer.write([
        ...changes.map((change) => changingOne(compileChange(queries, change))),
        ...entries.map(auditStatement),
      ]),
  };
}

function compileChange(queries: Kysely<Tables>, change: PolicyChange): CompiledQuery {
  switch (change.of) {
    case 'key': {
      const { id, created_at_ms, created_by, ...members } = keyRow(change.key);
      return change.isNew
        ? queries
            .insertInto('api_key')
            .values({ id, created_at_ms, created_by, ...members })
            .compile()
        : queries.updateTable('api_key').set(members).where('id', '=', id).compile();
    }
    case 'workspace': {
      const { id, account_id, created_at_ms, ...members } = workspaceRow(change.workspace);
      return change.isNew
        ? queries
            .insertInto('workspace')
            .values({ id, account_id, created_at_ms, ...members })
            .compile()
        : queries.updateTable('workspace').set(members).where('id', '=', id).compile();
    }
    case 'account':
      return compileAccountChange(queries, change.account, change.isNew);
    case 'rule':
      return compileRuleChange(queries, change.subject, change.caps);
  }
}

function changingOne({ sql, parameters }: CompiledQuery): WriteStatement {
  return { sql, parameters: parameters as WriteStatement['parameters'], changes: 1 };
}
