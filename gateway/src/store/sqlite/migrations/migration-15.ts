/** Owns the step to version 15: a quick way from a call to its entries in the ledger. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_15: Migration = {
  version: 15,
  statements: [
    // Stretch n is the entries n * 1000 + 1 to (n + 1) * 1000; both texts are '' where none of them is of a call.
    `CREATE TABLE ledger_stretch (
      number INTEGER PRIMARY KEY,
      first_ref TEXT NOT NULL,
      last_ref TEXT NOT NULL
    ) STRICT`,
  ],
};
