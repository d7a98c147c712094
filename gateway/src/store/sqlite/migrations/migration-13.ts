/** Migrates to version 13: providers and prices entered in the console. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_13: Migration = {
  version: 13,
  statements: [
    // `sealed` (base64) NULL: the provider takes no credential. `last4` is shown; the credential never is.
    `CREATE TABLE provider_entry (
      name TEXT PRIMARY KEY NOT NULL,
      kind TEXT NOT NULL,
      base_url TEXT NOT NULL,
      models TEXT NOT NULL,
      sealed TEXT,
      last4 TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL
    ) STRICT`,
    // For any provider, wherever it is configured. `origin`: the tested address; a result for another address is
    // obsolete.
    `CREATE TABLE provider_test (
      provider TEXT PRIMARY KEY NOT NULL,
      origin TEXT NOT NULL,
      at_ms INTEGER NOT NULL,
      ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
      message TEXT NOT NULL,
      duration_ms REAL NOT NULL
    ) STRICT, WITHOUT ROWID`,
    // Of two prices with the same start, the later one (`seq`) applies. `rates` NULL: free.
    `CREATE TABLE model_price (
      seq INTEGER PRIMARY KEY NOT NULL,
      model TEXT NOT NULL,
      from_ms INTEGER NOT NULL,
      rates TEXT,
      created_by TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL
    ) STRICT`,
    `CREATE TRIGGER model_price_keeps BEFORE UPDATE ON model_price
      BEGIN SELECT RAISE(ABORT, 'a price that was set never changes'); END`,
    `CREATE TRIGGER model_price_stays BEFORE DELETE ON model_price
      BEGIN SELECT RAISE(ABORT, 'a price that was set is never deleted'); END`,
  ],
};
