/** Migrates to version 4: the table of limit rules. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_4: Migration = {
  version: 4,
  statements: [
    // No foreign keys: models are named by the configuration, end users by the caller.
    `CREATE TABLE limit_rule (
      kind TEXT NOT NULL CHECK (kind IN ('key', 'end_user', 'workspace', 'account', 'model')),
      id TEXT NOT NULL,
      requests_per_minute INTEGER CHECK (requests_per_minute >= 1),
      tokens_per_minute INTEGER CHECK (tokens_per_minute >= 1),
      concurrency INTEGER CHECK (concurrency >= 1),
      budget_nano_usd INTEGER CHECK (budget_nano_usd >= 0),
      budget_window TEXT CHECK (budget_window IN ('day', 'week', 'month', 'total')),
      PRIMARY KEY (kind, id),
      CHECK ((budget_nano_usd IS NULL) = (budget_window IS NULL)),
      CHECK (coalesce(requests_per_minute, tokens_per_minute, concurrency, budget_nano_usd) IS NOT NULL)
    ) STRICT, WITHOUT ROWID`,
  ],
};
