/** Owns how keys and workspaces lie in their tables, both ways. */
import type { Scope, StoredKey, StoredWorkspace } from '../ports.ts';
import type { ApiKeyRow, WorkspaceRow } from './tables.ts';

/** The row of a key. */
export function keyRow(key: StoredKey): ApiKeyRow {
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

/** The key of a row. */
export function keyOfRow(row: ApiKeyRow): StoredKey {
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

/** The row of a workspace. */
export function workspaceRow(workspace: StoredWorkspace): WorkspaceRow {
  return {
    id: workspace.id,
    account_id: workspace.accountId,
    models: renderList(workspace.models),
    bodies: workspace.bodies,
    bodies_days: workspace.bodiesDays,
    created_at_ms: workspace.createdAtMs,
  };
}

/** The workspace of a row. */
export function workspaceOfRow(row: WorkspaceRow): StoredWorkspace {
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
