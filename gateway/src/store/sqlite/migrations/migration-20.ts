/** Owns the step to version 20: who disabled a key. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_20: Migration = {
  version: 20,
  statements: [
    'ALTER TABLE api_key ADD COLUMN disabled_by TEXT',
    // Of keys that are disabled already, as the audit trail tells; what was before the trail is not known.
    `UPDATE api_key SET disabled_by = (
        SELECT actor_id FROM audit_entry
        WHERE audit_entry.account = api_key.account_id AND act = 'keys.disable' AND subject_id = api_key.id
        ORDER BY seq DESC LIMIT 1
      ) WHERE status = 'disabled'`,
  ],
};
