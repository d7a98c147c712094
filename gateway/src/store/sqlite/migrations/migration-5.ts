/** Migrates to version 5: runs with an idempotency key. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_5: Migration = {
  version: 5,
  statements: [
    // `ended` NULL: the run is in progress, or its process died.
    `CREATE TABLE idempotent_run (
      key_id TEXT NOT NULL,
      name_hash TEXT NOT NULL,
      body_hash TEXT NOT NULL,
      call_id TEXT NOT NULL,
      begun_at_ms INTEGER NOT NULL,
      ended TEXT CHECK (ended IN ('kept', 'incomplete', 'too_large', 'no_room')),
      PRIMARY KEY (key_id, name_hash)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX idempotent_run_age ON idempotent_run (begun_at_ms)',
    // A table of its own, so that the table of runs stays small although responses take megabytes.
    'CREATE TABLE idempotent_answer (call_id TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT',
    // Total bytes of a key's responses, updated with them: a sum for each new response would cost more than storing it.
    'CREATE TABLE idempotent_share (key_id TEXT PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL CHECK (bytes >= 0)) STRICT, WITHOUT ROWID',
  ],
};
