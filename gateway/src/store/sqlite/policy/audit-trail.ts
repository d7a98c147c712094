/**
 * Implements the audit trail over the database: the writer adds entries, reads run here. `audit-row.ts` maps entries to
 * rows.
 */
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { AuditField } from '../../../lib/query/audit-query.ts';
import type { QueryTerm, RangeTest, TextTest } from '../../../lib/query/call-query.ts';
import type { AuditTrail, NewAuditEntry } from '../../ports/audit.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { type AuditRow, auditValues, entryOfRow, INSERT_AUDIT_ENTRY } from './audit-row.ts';

const VALUES_MAX = 1_000;

type TextColumn = 'act' | 'actor_id' | 'actor_name' | 'subject_id' | 'workspace';

/** The columns of each field of a query: one of them has to meet a test. */
const COLUMNS: Readonly<Record<Exclude<AuditField, 'date'>, readonly TextColumn[]>> = {
  action: ['act'],
  actor: ['actor_id', 'actor_name'],
  target: ['subject_id'],
  workspace: ['workspace'],
};

/** The condition of a term. An entry without a value does not match, and so matches `isNot`. */
function meets({ field, isNot, texts, ranges }: QueryTerm<AuditField>) {
  return ({ eb, and, or, not, val }: ExpressionBuilder<{ audit_entry: AuditRow }, 'audit_entry'>) => {
    const textTest = (column: TextColumn, test: TextTest) => {
      if (test === null) return eb(column, 'is', null);
      if (!test.isPrefix) return eb(column, '=', test.text);
      return and([eb(column, '>=', test.text), eb(column, '<', `${test.text}\u{10ffff}`)]);
    };
    const rangeTest = ({ from, to }: RangeTest) =>
      and([
        ...(from === null ? [] : [eb('at_ms', '>=', Number(from))]),
        ...(to === null ? [] : [eb('at_ms', '<=', Number(to))]),
      ]);
    const columns = field === 'date' ? [] : COLUMNS[field];
    const tests = [
      ...texts.flatMap((test) => columns.map((column) => textTest(column, test))),
      ...ranges.map(rangeTest),
    ];
    const met = eb.fn.coalesce(or(tests), val(0));
    return isNot ? not(eb(met, '=', 1)) : eb(met, '=', 1);
  };
}

/** The statement that adds an entry, for the same write as the change that it records. */
export function auditStatement(entry: NewAuditEntry): WriteStatement {
  return { sql: INSERT_AUDIT_ENTRY, parameters: auditValues(entry), changes: 1 };
}

/** `append` adds all entries in one write. */
export function createAuditTrail(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): AuditTrail {
  return {
    append: (entries) => writer.write(entries.map(auditStatement)),
    async read({ account, workspaces, beforeSeq, actor, act, subject, fromMs, toMs, terms = [], limit }) {
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
      for (const term of terms) entries = entries.where(meets(term));
      return (await entries.execute()).map(entryOfRow);
    },
    async readValues(field, { account, workspaces }) {
      const read = async (column: TextColumn) => {
        let values = queries
          .withTables<{ audit_entry: AuditRow }>()
          .selectFrom('audit_entry')
          .select(column)
          .distinct()
          .where('account', '=', account)
          .where(column, 'is not', null)
          .limit(VALUES_MAX);
        if (workspaces !== null) values = values.where('workspace', 'in', workspaces);
        return (await values.execute()).flatMap((row) => row[column] ?? []);
      };
      return (await Promise.all(COLUMNS[field].map(read))).flat();
    },
  };
}
