/** Migrates to version 16: passkeys. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_16: Migration = {
  version: 16,
  statements: [
    // `credential` and `public_key` (COSE) in base64url; nothing here is secret. `relying_party`: the host of the
    // passkey.
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
  ],
};
