/** Migrates to version 18: rolled-up usage in blocks. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_18: Migration = {
  version: 18,
  statements: [
    'DROP TABLE usage_quarter',
    'DROP TABLE usage_day',
    'DROP TABLE usage_caller_day',
    // Sums of many series in columns, as `rollup/sum-block.ts` packs them. A place (account, kind, step, start_ms) may
    // have several parts, which are added up. Kinds are those of series; steps are quarters of an hour, and days in the
    // account's zone.
    `CREATE TABLE usage_block (
      id INTEGER PRIMARY KEY,
      account INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('call', 'end_user', 'session')),
      step TEXT NOT NULL CHECK (step IN ('quarter', 'day')),
      start_ms INTEGER NOT NULL,
      rows INTEGER NOT NULL,
      sums BLOB NOT NULL,
      latencies BLOB NOT NULL
    ) STRICT`,
    'CREATE INDEX usage_block_place ON usage_block (account, kind, step, start_ms)',
    // All records are rolled up again in the background: until then they are read one by one.
    'DROP TABLE usage_series',
    // As before, plus `same_as`: the first series of the same end user or session in another workspace; NULL: there is
    // none.
    `CREATE TABLE usage_series (
      id INTEGER PRIMARY KEY,
      account TEXT NOT NULL,
      kind TEXT NOT NULL,
      workspace TEXT NOT NULL,
      key_id TEXT,
      model TEXT,
      provider TEXT,
      protocol TEXT,
      end_user TEXT,
      session TEXT,
      same_as INTEGER
    ) STRICT`,
    // One index per kind, since every new series pays for the indexes that contain it.
    `CREATE INDEX usage_series_call ON usage_series (account, workspace, key_id, model, provider, protocol)
      WHERE kind = 'call'`,
    "CREATE INDEX usage_series_end_user ON usage_series (account, end_user, workspace) WHERE kind = 'end_user'",
    "CREATE INDEX usage_series_session ON usage_series (account, session, workspace) WHERE kind = 'session'",
    'CREATE INDEX usage_series_same ON usage_series (account, kind, same_as) WHERE same_as IS NOT NULL',
    "UPDATE usage_through SET request_id = ''",
    'DELETE FROM usage_late',
    'DELETE FROM usage_account',
  ],
};
