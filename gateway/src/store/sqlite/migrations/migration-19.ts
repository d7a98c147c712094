/**
 * Migrates to version 19: from here on a call's record is hashed with the entry that ends it. Shipped migrations never
 * change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_19: Migration = {
  version: 19,
  statements: [
    // The hashes of entries up to this one cover the entries alone.
    `INSERT INTO meta (name, value)
      SELECT 'entries_without_records', CAST(CAST(coalesce((SELECT max(seq) FROM ledger_entry), 0) AS TEXT) AS BLOB)`,
  ],
};
