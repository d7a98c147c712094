/**
 * Implements the policy port (keys, workspaces, accounts, limit rules) over the database: reads run here; changes are
 * run by the writer, all or none.
 */
import { type Kysely, sql } from 'kysely';
import type { ImportedObject } from '../../ports/books/imports.ts';
import {
  type BudgetWindow,
  type Caps,
  inLayer,
  type LimitLayer,
  layerOf,
  type Subject,
  type SubjectKind,
} from '../../ports/limits.ts';
import type { LimitRule, PolicyChange, PolicyReader, PolicyStore, StoredAccount } from '../../ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../../ports/records.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { auditStatement } from './audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow, upsertRow } from './table-rows.ts';

const KEYS: StoredTable<StoredKey> = {
  name: 'api_key',
  key: ['id'],
  fixed: ['createdAtMs', 'createdBy'],
  members: {
    id: 'plain',
    name: 'plain',
    accountId: 'plain',
    workspaceId: 'plain',
    hash: 'plain',
    last4: 'plain',
    previousHash: 'plain',
    previousExpiresAtMs: 'plain',
    previousLast4: 'plain',
    models: 'json',
    ips: 'json',
    scopes: 'json',
    strict: 'flag',
    holds: 'plain',
    status: 'plain',
    createdAtMs: 'plain',
    expiresAtMs: 'plain',
    createdBy: 'plain',
    disabledBy: 'plain',
    disabledByOperator: 'optional_flag',
    requiredTags: 'optional_json',
    tags: 'optional_json',
  },
};

const WORKSPACES: StoredTable<StoredWorkspace> = {
  name: 'workspace',
  key: ['id'],
  fixed: ['accountId', 'createdAtMs'],
  members: {
    id: 'plain',
    accountId: 'plain',
    models: 'json',
    bodies: 'plain',
    bodiesDays: 'plain',
    createdAtMs: 'plain',
    requiredTags: 'optional_json',
    cache: 'optional_json',
  },
};

const ACCOUNTS: StoredTable<StoredAccount> = {
  name: 'account',
  key: ['id'],
  fixed: ['createdAtMs'],
  members: {
    id: 'plain',
    name: 'plain',
    mode: 'plain',
    markUpPpm: 'plain',
    timeZone: 'plain',
    windowZones: 'optional_json',
    holds: 'plain',
    createdAtMs: 'plain',
  },
};

interface FlatRule extends Omit<Caps, 'budget'> {
  readonly kind: SubjectKind;
  readonly id: string;
  readonly layer: LimitLayer;
  readonly budgetNanoUsd: bigint | null;
  readonly budgetWindow: BudgetWindow | null;
}

const RULES: StoredTable<FlatRule> = {
  name: 'limit_rule',
  key: ['kind', 'id', 'layer'],
  fixed: [],
  members: {
    kind: 'plain',
    id: 'plain',
    layer: 'plain',
    requestsPerMinute: 'plain',
    tokensPerMinute: 'plain',
    concurrency: 'plain',
    budgetNanoUsd: 'amount',
    budgetWindow: 'plain',
  },
};

const IMPORTS: StoredTable<ImportedObject> = {
  name: 'imported_object',
  key: ['source', 'kind', 'foreignId'],
  fixed: ['importedAtMs'],
  members: {
    source: 'plain',
    kind: 'plain',
    foreignId: 'plain',
    subjectKind: 'plain',
    subjectId: 'plain',
    digest: 'plain',
    spent: 'amount',
    spentAtMs: 'plain',
    importedAtMs: 'plain',
  },
};

/** The read half of the port. */
export function createPolicyReader(queries: Kysely<Tables>): PolicyReader {
  return {
    readKeys: () => readRows(queries, KEYS, 'created_at_ms, id'),
    readWorkspaces: () => readRows(queries, WORKSPACES, 'created_at_ms, id'),
    readAccounts: () => readRows(queries, ACCOUNTS, 'created_at_ms, id'),
    readLimitRules: async () => (await readRows(queries, RULES, 'kind, id, layer')).map(ruleOf),
    readImported: (source, foreignIds) =>
      readRows(
        queries,
        IMPORTS,
        'kind, foreign_id',
        sql`source = ${source} AND foreign_id IN (SELECT value FROM json_each(${JSON.stringify(foreignIds)}))`,
      ),
  };
}

export function createPolicyStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): PolicyStore {
  return {
    ...createPolicyReader(queries),
    save: (changes, entries = []) => writer.write([...changes.map(statementOf), ...entries.map(auditStatement)]),
  };
}

function statementOf(change: PolicyChange): WriteStatement {
  switch (change.of) {
    case 'key':
      return change.isNew ? insertRow(KEYS, change.key) : updateRow(KEYS, change.key);
    case 'workspace':
      return change.isNew ? insertRow(WORKSPACES, change.workspace) : updateRow(WORKSPACES, change.workspace);
    case 'account':
      return change.isNew ? insertRow(ACCOUNTS, change.account) : updateRow(ACCOUNTS, change.account);
    case 'rule': {
      const { subject, caps } = change;
      if (caps === null) return deleteRow(RULES, [subject.kind, subject.id, layerOf(subject)]);
      return upsertRow(RULES, flatRule(subject, caps));
    }
    case 'import':
      return upsertRow(IMPORTS, change.imported);
  }
}

function flatRule(subject: Subject, { budget, ...counts }: Caps): FlatRule {
  const { kind, id } = subject;
  const spend = { budgetNanoUsd: budget?.amount ?? null, budgetWindow: budget?.window ?? null };
  return { kind, id, layer: layerOf(subject), ...counts, ...spend };
}

function ruleOf({ kind, id, layer, budgetNanoUsd: amount, budgetWindow: window, ...counts }: FlatRule): LimitRule {
  const budget = amount === null || window === null ? null : { window, amount };
  return { subject: inLayer({ kind, id }, layer), caps: { ...counts, budget } };
}
