/** Migrates to version 11: rolled-up usage, and which records it includes. Shipped migrations never change. */
import type { Migration } from './migration.ts';

/** The sums of a row. `latency` and `ttfb` are histograms with the slots of `rollup/latency-slots.ts`. */
const SUMS = `requests INTEGER NOT NULL,
  client_errors INTEGER NOT NULL,
  server_errors INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  input INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  output INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  savings INTEGER NOT NULL,
  latency TEXT NOT NULL,
  ttfb TEXT NOT NULL`;

export const MIGRATION_11: Migration = {
  version: 11,
  statements: [
    // Every record up to this one is rolled up, except those in usage_late; none above it is.
    'CREATE TABLE usage_through (one INTEGER PRIMARY KEY CHECK (one = 1), request_id TEXT NOT NULL) STRICT',
    "INSERT INTO usage_through (one, request_id) VALUES (1, '')",
    // Records of calls that ended after younger ones had been rolled up.
    'CREATE TABLE usage_late (request_id TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID',
    // A number for each account, the zone in which its days are cut, and the first day from which they are complete.
    `CREATE TABLE usage_account (
      id INTEGER PRIMARY KEY,
      account TEXT NOT NULL UNIQUE,
      time_zone TEXT NOT NULL,
      since_ms INTEGER NOT NULL
    ) STRICT`,
    // `call` has all columns except the last two; `end_user` and `session` have the workspace and their own.
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
      session TEXT
    ) STRICT`,
    `CREATE INDEX usage_series_of ON usage_series
      (account, kind, workspace, key_id, model, provider, protocol, end_user, session)`,
    // Time precedes series in the key, so that the rows added by a step are adjacent: otherwise each record would touch
    // pages of its own. Fifteen minutes: hours and days of every zone consist of whole quarters.
    `CREATE TABLE usage_quarter (account INTEGER NOT NULL, start_ms INTEGER NOT NULL, series INTEGER NOT NULL, ${SUMS},
      PRIMARY KEY (account, start_ms, series)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage_day (account INTEGER NOT NULL, start_ms INTEGER NOT NULL, series INTEGER NOT NULL, ${SUMS},
      PRIMARY KEY (account, start_ms, series)) STRICT, WITHOUT ROWID`,
    // For end users and sessions, which are many: only days.
    `CREATE TABLE usage_caller_day (account INTEGER NOT NULL, kind TEXT NOT NULL, start_ms INTEGER NOT NULL,
      series INTEGER NOT NULL, ${SUMS}, PRIMARY KEY (account, kind, start_ms, series)) STRICT, WITHOUT ROWID`,
  ],
};
