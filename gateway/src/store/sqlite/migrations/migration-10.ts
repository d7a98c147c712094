/**
 * Migrates to version 10: people, their sign-in methods and their memberships in accounts. Shipped migrations never
 * change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_10: Migration = {
  version: 10,
  statements: [
    `CREATE TABLE person (
      id TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      email TEXT NOT NULL UNIQUE,
      email_verified INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
      second_factor INTEGER NOT NULL DEFAULT 0 CHECK (second_factor IN (0, 1)),
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      seen_at_ms INTEGER
    ) STRICT`,
    // `token` is the SHA-256 of the browser's token. `expires_at_ms` never moves; inactivity ends a session earlier.
    `CREATE TABLE person_session (
      id TEXT PRIMARY KEY NOT NULL,
      token TEXT NOT NULL UNIQUE,
      person TEXT NOT NULL REFERENCES person (id),
      address TEXT,
      client TEXT,
      created_at_ms INTEGER NOT NULL,
      seen_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX person_session_person ON person_session (person)',
    // A password (provider `credential`), or the `subject` by which another service identifies the person.
    `CREATE TABLE sign_in_method (
      id TEXT PRIMARY KEY NOT NULL,
      person TEXT NOT NULL REFERENCES person (id),
      provider TEXT NOT NULL,
      subject TEXT NOT NULL,
      scope TEXT,
      password_hash TEXT,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      UNIQUE (provider, subject)
    ) STRICT`,
    'CREATE INDEX sign_in_method_person ON sign_in_method (person)',
    // A sign-in waiting for its next step. `name` is hashed.
    `CREATE TABLE sign_in_step (
      id TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX sign_in_step_name ON sign_in_step (name)',
    'CREATE INDEX sign_in_step_age ON sign_in_step (expires_at_ms)',
    // `secret` and `recovery_codes` are encrypted.
    `CREATE TABLE second_factor (
      id TEXT PRIMARY KEY NOT NULL,
      person TEXT NOT NULL UNIQUE REFERENCES person (id),
      secret TEXT NOT NULL,
      recovery_codes TEXT NOT NULL,
      verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
      failures INTEGER NOT NULL DEFAULT 0,
      locked_until_ms INTEGER
    ) STRICT`,
    // `workspaces`: a JSON list; NULL: all of the account.
    `CREATE TABLE membership (
      person TEXT NOT NULL REFERENCES person (id),
      account TEXT NOT NULL REFERENCES account (id),
      role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'developer', 'viewer')),
      workspaces TEXT,
      joined_at_ms INTEGER NOT NULL,
      PRIMARY KEY (person, account)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX membership_account ON membership (account)',
    `CREATE TABLE invitation (
      id TEXT PRIMARY KEY NOT NULL,
      account TEXT NOT NULL REFERENCES account (id),
      email TEXT NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'billing', 'developer', 'viewer')),
      workspaces TEXT,
      token_hash TEXT NOT NULL UNIQUE,
      invited_by TEXT NOT NULL REFERENCES person (id),
      created_at_ms INTEGER NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      accepted_at_ms INTEGER
    ) STRICT`,
    'CREATE INDEX invitation_account ON invitation (account)',
    `CREATE TABLE setup_link (
      token_hash TEXT PRIMARY KEY NOT NULL,
      expires_at_ms INTEGER NOT NULL,
      used_at_ms INTEGER
    ) STRICT, WITHOUT ROWID`,
    // Creator of the key; NULL: the command line.
    'ALTER TABLE api_key ADD COLUMN created_by TEXT',
  ],
};
