/**
 * Stores the keys and workspaces that the calls of `measure-usage.ts` name: without them the console has no pages about
 * them.
 */
import { openIngestRig } from '../../src/store/sqlite/testing/ingest-rig.ts';

const KEYS = 40;
const WORKSPACES = 3;

/** Existing ones stay. */
export function keepKeys(dataDir: string): void {
  const writer = openIngestRig(dataDir);
  const workspaces = Array.from({ length: WORKSPACES }, (_, nth) => ({
    sql: "INSERT OR IGNORE INTO workspace (id, account_id, created_at_ms) VALUES (?, 'default', 1)",
    parameters: [`default-w${nth}`],
    changes: null,
  }));
  const keys = Array.from({ length: KEYS }, (_, nth) => ({
    sql: `INSERT OR IGNORE INTO api_key (id, name, account_id, workspace_id, hash, last4, scopes, status, created_at_ms)
      VALUES (?, ?, 'default', ?, ?, 'none', '["inference"]', 'active', 1)`,
    parameters: [`key_default_${nth}`, `key ${nth}`, nth % WORKSPACES === 0 ? 'default-w0' : 'default', `none ${nth}`],
    changes: null,
  }));
  const kept = writer.keepWrites([workspaces, keys]);
  writer.close();
  if (kept !== true) throw new Error(`the keys were not stored: ${JSON.stringify(kept)}`);
}
