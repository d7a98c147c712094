/** Creates the tables of imports from other gateways and of reconciliation with providers. */

/** Columns as in the port `ImportedObject`. No foreign keys: end users have no table. */
export const IMPORTED_OBJECTS = [
  `CREATE TABLE imported_object (
    source TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('account', 'workspace', 'key', 'end_user')),
    foreign_id TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    spent_at_ms INTEGER NOT NULL,
    imported_at_ms INTEGER NOT NULL,
    PRIMARY KEY (source, kind, foreign_id)
  ) STRICT, WITHOUT ROWID`,
  // Covers the query that sums up what subjects spent.
  `CREATE INDEX imported_object_spent ON imported_object (subject_kind, subject_id, spent_at_ms, spent)
    WHERE spent <> 0`,
];
