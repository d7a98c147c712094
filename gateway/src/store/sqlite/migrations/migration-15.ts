/** Migrates to version 15: an index from calls to their ledger entries. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_15: Migration = {
  version: 15,
  statements: [
    // Stretch n covers entries n * 1000 + 1 to (n + 1) * 1000; both texts are '' where none of them belongs to a call.
    `CREATE TABLE ledger_stretch (
      number INTEGER PRIMARY KEY,
      first_ref TEXT NOT NULL,
      last_ref TEXT NOT NULL
    ) STRICT`,
  ],
};
