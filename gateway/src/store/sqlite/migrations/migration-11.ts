/** Owns the step to version 11: rolled-up usage, and which records are in it. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

/** What a row sums up. `latency` and `ttfb` are histograms as `usage/latency-slots.ts` writes them. */
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
    // Every record up to this one is rolled up, save those in usage_late; none above it is.
    'CREATE TABLE usage_through (one INTEGER PRIMARY KEY CHECK (one = 1), request_id TEXT NOT NULL) STRICT',
    "INSERT INTO usage_through (one, request_id) VALUES (1, '')",
    // Records of calls that ended after younger ones had been rolled up.
    'CREATE TABLE usage_late (request_id TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID',
    // A number for each account; in which zone its days are cut, and from which day on they are whole.
    `CREATE TABLE usage_account (
      id INTEGER PRIMARY KEY,
      account TEXT NOT NULL UNIQUE,
      time_zone TEXT NOT NULL,
      since_ms INTEGER NOT NULL
    ) STRICT`,
    // `call` has all columns but the last two; `end_user` and `session` have the workspace and their own.
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
    // By time before series, so that what a step adds lies together: the other way round each record touches pages of its own.
    // Fifteen minutes: every zone's hours and days are made of whole quarters.
    `CREATE TABLE usage_quarter (account INTEGER NOT NULL, start_ms INTEGER NOT NULL, series INTEGER NOT NULL, ${SUMS},
      PRIMARY KEY (account, start_ms, series)) STRICT, WITHOUT ROWID`,
    `CREATE TABLE usage_day (account INTEGER NOT NULL, start_ms INTEGER NOT NULL, series INTEGER NOT NULL, ${SUMS},
      PRIMARY KEY (account, start_ms, series)) STRICT, WITHOUT ROWID`,
    // Of end users and sessions, who are many: only days.
    `CREATE TABLE usage_caller_day (account INTEGER NOT NULL, kind TEXT NOT NULL, start_ms INTEGER NOT NULL,
      series INTEGER NOT NULL, ${SUMS}, PRIMARY KEY (account, kind, start_ms, series)) STRICT, WITHOUT ROWID`,
  ],
};
