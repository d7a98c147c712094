/** Owns the step to version 8: how much the calls of a key or an account hold. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_8: Migration = {
  version: 8,
  statements: [
    // NULL: a key holds as its account does, an account as the configuration says.
    "ALTER TABLE api_key ADD COLUMN holds TEXT CHECK (holds IN ('adaptive', 'strict'))",
    "ALTER TABLE account ADD COLUMN holds TEXT CHECK (holds IN ('adaptive', 'strict'))",
  ],
};
