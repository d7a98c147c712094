/** Owns how keys and workspaces are shown to administrators: the members of `--json`. Never a hash, never a secret. */
import type { StoredKey, StoredWorkspace } from '../store/ports.ts';
import type { Json } from './command.ts';

/** A key as shown; times as ISO 8601. */
export function viewKey(key: StoredKey): { readonly [member: string]: Json } {
  return {
    id: key.id,
    name: key.name,
    account: key.accountId,
    workspace: key.workspaceId,
    last4: key.last4,
    models: key.models,
    ips: key.ips,
    scopes: key.scopes,
    strict: key.strict,
    status: key.status,
    created_at: renderTime(key.createdAtMs),
    expires_at: renderTime(key.expiresAtMs),
    previous_expires_at: renderTime(key.previousExpiresAtMs),
  };
}

/** A key at the one moment when its secret is shown. */
export function viewNewKey(key: StoredKey, keyText: string): Json {
  const { id, ...rest } = viewKey(key);
  return { id: id ?? null, key: keyText, ...rest };
}

/** A workspace as shown. */
export function viewWorkspace(workspace: StoredWorkspace): Json {
  return {
    id: workspace.id,
    account: workspace.accountId,
    models: workspace.models,
    created_at: renderTime(workspace.createdAtMs),
  };
}

function renderTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
