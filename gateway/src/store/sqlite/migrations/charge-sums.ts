/**
 * Defines the tables of rolled-up sums with those of charges: by the end of calls, as statements show them. Older
 * databases have the sums of usage only; their charges are added between other writes.
 */

export const USAGE_BLOCK = `CREATE TABLE usage_block (
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('call', 'end_user', 'session', 'charge')),
    step TEXT NOT NULL CHECK (step IN ('quarter', 'day')),
    start_ms INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    sums BLOB NOT NULL,
    latencies BLOB NOT NULL
  ) STRICT`;

export const USAGE_BLOCK_PLACE = 'CREATE INDEX usage_block_place ON usage_block (account, kind, step, start_ms)';

export const USAGE_SERIES_CHARGE = `CREATE INDEX usage_series_charge ON usage_series (account, workspace, key_id, model, key_name)
    WHERE kind = 'charge'`;

export const CHARGES_FROM_35: readonly string[] = [
  // SQLite changes no CHECK in place. The old table goes with its index.
  'ALTER TABLE usage_block RENAME TO old_usage_block',
  USAGE_BLOCK,
  `INSERT INTO usage_block
    SELECT id, account, kind, step, start_ms, rows, sums, latencies FROM old_usage_block`,
  'DROP TABLE old_usage_block',
  USAGE_BLOCK_PLACE,
  'ALTER TABLE usage_series ADD COLUMN key_name TEXT',
  USAGE_SERIES_CHARGE,
  'ALTER TABLE usage_through ADD COLUMN charges INTEGER NOT NULL DEFAULT -1',
];
