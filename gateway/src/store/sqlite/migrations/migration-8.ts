/** Migrates to version 8: the hold mode of keys and accounts. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_8: Migration = {
  version: 8,
  statements: [
    // NULL: a key inherits from its account, an account from the configuration.
    "ALTER TABLE api_key ADD COLUMN holds TEXT CHECK (holds IN ('adaptive', 'strict'))",
    "ALTER TABLE account ADD COLUMN holds TEXT CHECK (holds IN ('adaptive', 'strict'))",
  ],
};
