/**
 * Implements the audit trail over the database: the writer adds entries, reads run here. `audit-row.ts` maps entries to
 * rows.
 */
import type { Kysely } from 'kysely';
import type { AuditTrail, NewAuditEntry } from '../../ports/audit.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { type AuditRow, auditValues, entryOfRow, INSERT_AUDIT_ENTRY } from './audit-row.ts';

/** The statement that adds an entry, for the same write as the change that it records. */
export function auditStatement(entry: NewAuditEntry): WriteStatement {
  return { sql: INSERT_AUDIT_ENTRY, parameters: auditValues(entry), changes: 1 };
}

/** `append` adds all entries in one write. */
export function createAuditTrail(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): AuditTrail {
  return {
    append: (entries) => writer.write(entries.map(auditStatement)),
    async read({ account, workspaces, beforeSeq, actor, act, subject, fromMs, toMs, limit }) {
      let entries = queries
        .withTables<{ audit_entry: AuditRow }>()
        .selectFrom('audit_entry')
        .selectAll()
        .where('account', '=', account)
        .orderBy('seq', 'desc')
        .limit(limit);
      if (workspaces !== null) entries = entries.where('workspace', 'in', workspaces);
      if (beforeSeq !== null) entries = entries.where('seq', '<', beforeSeq);
      if (actor !== null) entries = entries.where('actor_id', '=', actor);
      if (act !== null) entries = entries.where('act', '=', act);
      if (subject !== null) entries = entries.where('subject_id', '=', subject);
      if (fromMs !== null) entries = entries.where('at_ms', '>=', fromMs);
      if (toMs !== null) entries = entries.where('at_ms', '<', toMs);
      return (await entries.execute()).map(entryOfRow);
    },
  };
}
