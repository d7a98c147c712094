/** Implements the port of guardrail rules over the database. */
import type { Kysely } from 'kysely';
import type { GuardrailCheck, GuardrailRule, GuardrailStore } from '../../ports/books/guardrails.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { auditStatement } from '../policy/audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow } from '../policy/table-rows.ts';
import type { Writer } from '../writer/writer.ts';

/** CHECK is a word of SQL. */
type StoredRule = Omit<GuardrailRule, 'check'> & { readonly kind: GuardrailCheck };

const RULES: StoredTable<StoredRule> = {
  name: 'guardrail_rule',
  key: ['id'],
  fixed: ['account', 'createdAtMs'],
  members: {
    id: 'plain',
    account: 'plain',
    workspace: 'plain',
    name: 'plain',
    kind: 'plain',
    items: 'json',
    side: 'plain',
    action: 'plain',
    failsOpen: 'flag',
    receiver: 'plain',
    sealed: 'plain',
    timeoutMs: 'plain',
    enabled: 'flag',
    createdAtMs: 'plain',
  },
};

export function createGuardrailStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): GuardrailStore {
  return {
    async readRules() {
      const rows = await readRows(queries, RULES, 'created_at_ms, id');
      return rows.map(({ kind, ...rest }) => ({ ...rest, check: kind }));
    },
    createRule: (rule, entries) => writer.write([insertRow(RULES, rowOf(rule)), ...entries.map(auditStatement)]),
    changeRule: (rule, entries) => writer.write([updateRow(RULES, rowOf(rule)), ...entries.map(auditStatement)]),
    deleteRule: (id, entries) => writer.write([deleteRow(RULES, [id]), ...entries.map(auditStatement)]),
  };
}

function rowOf({ check, ...rest }: GuardrailRule): StoredRule {
  return { ...rest, kind: check };
}
