/** Creates the tables of saved views. Columns as in the port `SavedViewStore`. */

export const SAVED_VIEWS: readonly string[] = [
  `CREATE TABLE saved_view (
    id TEXT PRIMARY KEY NOT NULL,
    account TEXT NOT NULL REFERENCES account (id),
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    is_shared INTEGER NOT NULL,
    search TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX saved_view_account ON saved_view (account, person)',
  `CREATE TABLE pinned_view (
    account TEXT NOT NULL,
    person TEXT NOT NULL,
    view TEXT NOT NULL REFERENCES saved_view (id),
    PRIMARY KEY (account, person)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX pinned_view_view ON pinned_view (view)',
];
