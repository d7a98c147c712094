/** Migrates to version 17: password reset links, and names of accounts. Shipped migrations never change. */
import type { Migration } from './migration.ts';

const endLinksOf = (person: string) =>
  `BEGIN DELETE FROM reset_link WHERE person = ${person} OR made_by = ${person}; END`;

export const MIGRATION_17: Migration = {
  version: 17,
  statements: [
    // One link per person at a time. `made_by` NULL: the command line.
    `CREATE TABLE reset_link (
      person TEXT PRIMARY KEY NOT NULL REFERENCES person (id),
      token_hash TEXT NOT NULL UNIQUE,
      made_by TEXT REFERENCES person (id),
      ends_second_factor INTEGER NOT NULL CHECK (ends_second_factor IN (0, 1)),
      expires_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    // Triggers, so that any writer is covered: a link must not outlive the password and memberships, of the person or
    // of its creator, that it was created under.
    `CREATE TRIGGER reset_link_password AFTER UPDATE OF password_hash ON sign_in_method ${endLinksOf('NEW.person')}`,
    `CREATE TRIGGER reset_link_joined AFTER INSERT ON membership ${endLinksOf('NEW.person')}`,
    `CREATE TRIGGER reset_link_changed AFTER UPDATE ON membership ${endLinksOf('NEW.person')}`,
    `CREATE TRIGGER reset_link_left AFTER DELETE ON membership ${endLinksOf('OLD.person')}`,
    "ALTER TABLE account ADD COLUMN name TEXT NOT NULL DEFAULT ''",
    'UPDATE account SET name = id',
  ],
};
