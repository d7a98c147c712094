/** Lists the statements that create the tables of operators' entries. */

/** Created by the upgrade to version 26, so they never change: a later step that alters a table gets its form below. */
export const TABLES_OF_26 = [
  // `sealed`: base64. `last4` is shown; the secrets never are.
  `CREATE TABLE provider_credential (
    provider TEXT NOT NULL REFERENCES provider_entry (name) ON DELETE CASCADE,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    last4 TEXT NOT NULL,
    weight INTEGER NOT NULL CHECK (weight >= 0),
    organisation TEXT,
    models TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (provider, name)
  ) STRICT, WITHOUT ROWID`,
  // `definition`: JSON of the members of a model in the configuration file.
  `CREATE TABLE route_entry (
    model TEXT PRIMARY KEY NOT NULL,
    definition TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  // No foreign keys: targets and credentials may be those of the configuration file.
  `CREATE TABLE out_of_rotation (
    kind TEXT NOT NULL CHECK (kind IN ('target', 'credential')),
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, owner, name)
  ) STRICT, WITHOUT ROWID`,
];

export const PROVIDER_TABLES = [
  // `settings`: JSON of the settings of its kind by name.
  `CREATE TABLE provider_entry (
    name TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    base_url TEXT NOT NULL,
    models TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}'
  ) STRICT`,
  ...TABLES_OF_26,
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
];
