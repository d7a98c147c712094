/** Migrates to version 3: the ledger, its epochs, balances and open holds. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_3: Migration = {
  version: 3,
  statements: [
    "ALTER TABLE account ADD COLUMN mode TEXT NOT NULL DEFAULT 'postpaid' CHECK (mode IN ('postpaid', 'prepaid'))",
    'ALTER TABLE account ADD COLUMN mark_up_ppm INTEGER NOT NULL DEFAULT 0',
    "ALTER TABLE account ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'",
    // Records up to this one are older than the ledger: they have no entries.
    `INSERT INTO meta (name, value)
      SELECT 'records_before_ledger', CAST(coalesce((SELECT max(request_id) FROM call_record), '') AS BLOB)`,
    'CREATE TABLE ledger_epoch (id INTEGER PRIMARY KEY, started_at_ms INTEGER NOT NULL, seal BLOB NOT NULL) STRICT',
    // `ref` is the id of the call or movement, `prepaid` the account's mode at the time. No CHECK on the kind: it would
    // cost a hot row 1.5 µs, and `verify` checks it.
    `CREATE TABLE ledger_entry (
      seq INTEGER PRIMARY KEY,
      epoch INTEGER NOT NULL,
      kind TEXT NOT NULL,
      ref TEXT NOT NULL,
      nth INTEGER NOT NULL,
      account TEXT NOT NULL,
      prepaid INTEGER NOT NULL,
      amount INTEGER NOT NULL,
      released INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      note TEXT,
      hash BLOB NOT NULL
    ) STRICT`,
    'CREATE UNIQUE INDEX ledger_entry_once ON ledger_entry (ref, kind, nth)',
    'CREATE TABLE ledger_seal (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, seal BLOB NOT NULL) STRICT',
    ...['epoch', 'entry', 'seal'].flatMap((table) => [
      `CREATE TRIGGER ledger_${table}_keeps BEFORE UPDATE ON ledger_${table}
        BEGIN SELECT RAISE(ABORT, 'the ledger never changes'); END`,
      `CREATE TRIGGER ledger_${table}_stays BEFORE DELETE ON ledger_${table}
        BEGIN SELECT RAISE(ABORT, 'nothing of the ledger is ever deleted'); END`,
    ]),
    `CREATE TABLE account_balance (
      account TEXT PRIMARY KEY NOT NULL REFERENCES account (id),
      available INTEGER NOT NULL,
      held INTEGER NOT NULL CHECK (held >= 0),
      charged INTEGER NOT NULL,
      absorbed INTEGER NOT NULL,
      topped_up INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    // One row per running call, deleted at settlement. `draft` and `checkpoint` are JSON lists.
    `CREATE TABLE open_hold (
      call_id TEXT PRIMARY KEY NOT NULL,
      epoch INTEGER NOT NULL,
      account TEXT NOT NULL,
      amount INTEGER NOT NULL,
      extensions INTEGER NOT NULL,
      draft TEXT NOT NULL,
      checkpoint TEXT
    ) STRICT, WITHOUT ROWID`,
  ],
};
