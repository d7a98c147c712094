/** Migrates to version 20: who disabled a key. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_20: Migration = {
  version: 20,
  statements: [
    'ALTER TABLE api_key ADD COLUMN disabled_by TEXT',
    // For keys that are disabled already, according to the audit trail; earlier changes are unknown.
    `UPDATE api_key SET disabled_by = (
        SELECT actor_id FROM audit_entry
        WHERE audit_entry.account = api_key.account_id AND act = 'keys.disable' AND subject_id = api_key.id
        ORDER BY seq DESC LIMIT 1
      ) WHERE status = 'disabled'`,
  ],
};
