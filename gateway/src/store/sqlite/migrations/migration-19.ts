/** Owns the step to version 19: from here on the record of a call is hashed with the entry that ends it. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_19: Migration = {
  version: 19,
  statements: [
    // The hashes of entries up to this one are over the entries alone.
    `INSERT INTO meta (name, value)
      SELECT 'entries_without_records', CAST(CAST(coalesce((SELECT max(seq) FROM ledger_entry), 0) AS TEXT) AS BLOB)`,
  ],
};
