/** Owns the step to version 5: runs under an idempotency key. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_5: Migration = {
  version: 5,
  statements: [
    // `ended` NULL: the run goes on, or its process died.
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
    // Apart, so that the runs stay small beside answers of megabytes.
    'CREATE TABLE idempotent_answer (call_id TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT',
    // What the answers of a key take together, changed with them: summing them up for each new one would cost more than it.
    'CREATE TABLE idempotent_share (key_id TEXT PRIMARY KEY NOT NULL, bytes INTEGER NOT NULL CHECK (bytes >= 0)) STRICT, WITHOUT ROWID',
  ],
};
