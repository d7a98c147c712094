/** Creates the tables of people: sign-in methods, sessions, memberships, invitations and links. */

const endResetLinksOf = (person: string) =>
  `BEGIN DELETE FROM reset_link WHERE person = ${person} OR made_by = ${person}; END`;

export const PEOPLE_TABLES = [
  // `unique_email`: a verified address is unique, an unverified one within its account. Neither addresses nor account
  // names contain a space.
  `CREATE TABLE person (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    unique_email TEXT NOT NULL UNIQUE,
    email_verified INTEGER NOT NULL CHECK (email_verified IN (0, 1)),
    second_factor INTEGER NOT NULL DEFAULT 0 CHECK (second_factor IN (0, 1)),
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    seen_at_ms INTEGER,
    email TEXT NOT NULL DEFAULT '',
    account TEXT REFERENCES account (id) CHECK (unique_email = CASE email_verified
      WHEN 1 THEN email ELSE email || ' ' || coalesce(account, id) END),
    time_zone TEXT
  ) STRICT`,
  'CREATE INDEX person_email ON person (email)',
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
  // `credential` and `public_key` (COSE) in base64url; nothing here is secret. `relying_party`: the host of the passkey.
  `CREATE TABLE passkey (
    id TEXT PRIMARY KEY NOT NULL,
    person TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    credential TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    relying_party TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER
  ) STRICT`,
  'CREATE INDEX passkey_person ON passkey (person)',
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
  `CREATE TRIGGER membership_of_verified BEFORE INSERT ON membership
    WHEN EXISTS (SELECT 1 FROM person WHERE id = NEW.person AND email_verified = 0 AND account IS NOT NEW.account)
    BEGIN SELECT RAISE(ABORT, 'an unverified user joins no second account'); END`,
  // Memberships beyond the account of an unverified address, restored when the address is verified.
  `CREATE TABLE suspended_membership (
    person TEXT NOT NULL REFERENCES person (id),
    account TEXT NOT NULL REFERENCES account (id),
    role TEXT NOT NULL,
    workspaces TEXT,
    joined_at_ms INTEGER NOT NULL,
    PRIMARY KEY (person, account)
  ) STRICT, WITHOUT ROWID`,
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
  // One link per person at a time. `made_by` NULL: the command line.
  `CREATE TABLE reset_link (
    person TEXT PRIMARY KEY NOT NULL REFERENCES person (id),
    token_hash TEXT NOT NULL UNIQUE,
    made_by TEXT REFERENCES person (id),
    ends_second_factor INTEGER NOT NULL CHECK (ends_second_factor IN (0, 1)),
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  // Triggers, so that any writer is covered: a link must not outlive the password and memberships, of the person or of
  // its creator, that it was created under.
  `CREATE TRIGGER reset_link_password AFTER UPDATE OF password_hash ON sign_in_method ${endResetLinksOf('NEW.person')}`,
  `CREATE TRIGGER reset_link_joined AFTER INSERT ON membership ${endResetLinksOf('NEW.person')}`,
  `CREATE TRIGGER reset_link_changed AFTER UPDATE ON membership ${endResetLinksOf('NEW.person')}`,
  `CREATE TRIGGER reset_link_left AFTER DELETE ON membership ${endResetLinksOf('OLD.person')}`,
];
