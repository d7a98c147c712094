/**
 * Implements the policy port (keys, workspaces, limit rules, accounts) over the database: reads run here; changes are
 * compiled here and run by the writer, all or none.
 */

import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { AccountMode } from '../../ports/ledger.ts';
import {
  type BudgetWindow,
  type Caps,
  inLayer,
  type LimitLayer,
  layerOf,
  type Subject,
  type SubjectKind,
} from '../../ports/limits.ts';
import type {
  LimitRule,
  PolicyChange,
  PolicyReader,
  PolicyStore,
  StoredAccount,
  WindowZones,
} from '../../ports/policy.ts';
import type { HoldMode, Scope, StoredKey, StoredWorkspace } from '../../ports/records.ts';
import type { ApiKeyRow, Tables, WorkspaceRow } from '../tables.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { auditStatement } from './audit-trail.ts';

/** The read half of the port. */
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
    readAccounts: () => readAccounts(queries),
    readLimitRules: () => readLimitRules(queries),
  };
}

export function createPolicyStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): PolicyStore {
  return {
    ...createPolicyReader(queries),
    save: (changes, entries = []) =>
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

function keyRow(key: StoredKey): ApiKeyRow {
  return {
    id: key.id,
    name: key.name,
    account_id: key.accountId,
    workspace_id: key.workspaceId,
    hash: key.hash,
    last4: key.last4,
    previous_hash: key.previousHash,
    previous_expires_at_ms: key.previousExpiresAtMs,
    previous_last4: key.previousLast4,
    models: renderList(key.models),
    ips: renderList(key.ips),
    scopes: JSON.stringify(key.scopes),
    strict: key.strict ? 1 : 0,
    holds: key.holds,
    status: key.status,
    created_at_ms: key.createdAtMs,
    expires_at_ms: key.expiresAtMs,
    created_by: key.createdBy,
    disabled_by: key.disabledBy,
    disabled_by_operator: key.disabledByOperator === true ? 1 : 0,
  };
}

function keyOfRow(row: ApiKeyRow): StoredKey {
  return {
    id: row.id,
    name: row.name,
    accountId: row.account_id,
    workspaceId: row.workspace_id,
    hash: row.hash,
    last4: row.last4,
    previousHash: row.previous_hash,
    previousExpiresAtMs: row.previous_expires_at_ms,
    previousLast4: row.previous_last4,
    models: parseList(row.models),
    ips: parseList(row.ips),
    scopes: JSON.parse(row.scopes) as Scope[],
    strict: row.strict === 1,
    holds: row.holds,
    status: row.status,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    createdBy: row.created_by,
    disabledBy: row.disabled_by,
    ...(row.disabled_by_operator === 1 ? { disabledByOperator: true } : {}),
  };
}

function workspaceRow(workspace: StoredWorkspace): WorkspaceRow {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    models: renderList(workspace.models),
    bodies: workspace.bodies,
    bodies_days: workspace.bodiesDays,
    created_at_ms: workspace.createdAtMs,
  };
}

function workspaceOfRow(row: WorkspaceRow): StoredWorkspace {
  return {
    id: row.id,
    accountId: row.account_id,
    models: parseList(row.models),
    bodies: row.bodies,
    bodiesDays: row.bodies_days,
    createdAtMs: row.created_at_ms,
  };
}

function renderList(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

function parseList(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

interface LimitRuleRow {
  readonly kind: SubjectKind;
  readonly id: string;
  readonly layer: LimitLayer;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
  /** A decimal string: a number would silently lose digits beyond 2^53. */
  readonly budget_nano_usd: string | null;
  readonly budget_window: BudgetWindow | null;
}

/** All rules, ordered by subject, the operator's after the account's own. */
async function readLimitRules(queries: Kysely<Tables>): Promise<readonly LimitRule[]> {
  const rows = await rulesOf(queries)
    .selectFrom('limit_rule')
    .selectAll()
    .select(sql<string | null>`cast(budget_nano_usd as text)`.as('budget_nano_usd'))
    .orderBy('kind')
    .orderBy('id')
    .orderBy('layer')
    .execute();
  return rows.map(ruleOfRow);
}

/** Creates or replaces a subject's rule, or removes it (null); changes one row. */
function compileRuleChange(queries: Kysely<Tables>, subject: Subject, caps: Caps | null): CompiledQuery {
  const { kind, id } = subject;
  const layer = layerOf(subject);
  if (caps === null) {
    return rulesOf(queries)
      .deleteFrom('limit_rule')
      .where('kind', '=', kind)
      .where('id', '=', id)
      .where('layer', '=', layer)
      .compile();
  }
  const members = {
    requests_per_minute: caps.requestsPerMinute,
    tokens_per_minute: caps.tokensPerMinute,
    concurrency: caps.concurrency,
    budget_nano_usd: caps.budget === null ? null : String(caps.budget.amount),
    budget_window: caps.budget?.window ?? null,
  };
  return rulesOf(queries)
    .insertInto('limit_rule')
    .values({ kind, id, layer, ...members })
    .onConflict((conflict) => conflict.columns(['kind', 'id', 'layer']).doUpdateSet(members))
    .compile();
}

function rulesOf(queries: Kysely<Tables>) {
  return queries.withTables<{ limit_rule: LimitRuleRow }>();
}

function ruleOfRow(row: LimitRuleRow): LimitRule {
  const { budget_nano_usd: amount, budget_window: window } = row;
  return {
    subject: inLayer(row, row.layer),
    caps: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrency: row.concurrency,
      budget: amount === null || window === null ? null : { window, amount: BigInt(amount) },
    },
  };
}

interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly created_at_ms: number;
  readonly mode: AccountMode;
  readonly mark_up_ppm: number;
  readonly time_zone: string;
  readonly holds: HoldMode | null;
  /** JSON of `WindowZones`; NULL: none. */
  readonly window_zones: string | null;
}

/** All accounts, in order of creation. */
async function readAccounts(queries: Kysely<Tables>): Promise<readonly StoredAccount[]> {
  const rows = await accountsOf(queries)
    .selectFrom('account')
    .select(['id', 'name', 'mode', 'mark_up_ppm', 'time_zone', 'window_zones', 'holds', 'created_at_ms'])
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    mode: row.mode,
    markUpPpm: row.mark_up_ppm,
    timeZone: row.time_zone,
    ...(row.window_zones === null ? {} : { windowZones: JSON.parse(row.window_zones) as WindowZones }),
    holds: row.holds,
    createdAtMs: row.created_at_ms,
  }));
}

/** Creates an account, or changes everything but its id and time of creation; changes one row. */
function compileAccountChange(queries: Kysely<Tables>, account: StoredAccount, isNew: boolean): CompiledQuery {
  const { id, createdAtMs, name, mode, markUpPpm, timeZone, windowZones, holds } = account;
  const members = {
    name,
    mode,
    mark_up_ppm: markUpPpm,
    time_zone: timeZone,
    window_zones: windowZones === undefined ? null : JSON.stringify(windowZones),
    holds,
  };
  return isNew
    ? accountsOf(queries)
        .insertInto('account')
        .values({ id, created_at_ms: createdAtMs, ...members })
        .compile()
    : accountsOf(queries).updateTable('account').set(members).where('id', '=', id).compile();
}

function accountsOf(queries: Kysely<Tables>) {
  return queries.withTables<{ account: AccountRow }>();
}
