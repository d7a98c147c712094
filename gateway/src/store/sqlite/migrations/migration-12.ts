/**
 * Migrates to version 12: the audit trail, when keys were last used, and what workspaces keep of calls. Shipped
 * migrations never change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_12: Migration = {
  version: 12,
  statements: [
    // No foreign keys: an entry outlives what it refers to. `before` and `after` are JSON of the members that changed.
    `CREATE TABLE audit_entry (
      seq INTEGER PRIMARY KEY,
      at_ms INTEGER NOT NULL,
      account TEXT NOT NULL,
      workspace TEXT,
      actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'key', 'command_line', 'nobody')),
      actor_id TEXT NOT NULL,
      actor_name TEXT NOT NULL,
      address TEXT,
      act TEXT NOT NULL,
      subject_kind TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      before TEXT,
      after TEXT
    ) STRICT`,
    'CREATE INDEX audit_entry_account ON audit_entry (account, seq)',
    `CREATE TRIGGER audit_entry_keeps BEFORE UPDATE ON audit_entry
      BEGIN SELECT RAISE(ABORT, 'the audit trail never changes'); END`,
    `CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry
      BEGIN SELECT RAISE(ABORT, 'nothing of the audit trail is ever deleted'); END`,
    // One row per secret of a key: the current one, and the previous one during the grace period of a rotation.
    `CREATE TABLE key_use (
      hash TEXT PRIMARY KEY NOT NULL,
      at_ms INTEGER NOT NULL,
      client TEXT
    ) STRICT, WITHOUT ROWID`,
    'ALTER TABLE api_key ADD COLUMN previous_last4 TEXT',
    "ALTER TABLE workspace ADD COLUMN bodies TEXT NOT NULL DEFAULT 'off' CHECK (bodies IN ('off', 'errors', 'all'))",
    'ALTER TABLE workspace ADD COLUMN bodies_days INTEGER NOT NULL DEFAULT 30 CHECK (bodies_days >= 1)',
    // Partial: entries of calls pay only for the check of their kind.
    `CREATE INDEX ledger_entry_movement ON ledger_entry (account, seq) WHERE kind IN ('topup', 'correct')`,
  ],
};
