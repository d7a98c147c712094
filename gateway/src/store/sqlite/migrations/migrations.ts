/** Lists the migrations from an empty database to the current schema, in order. Shipped migrations never change. */
import type { Migration } from './migration.ts';
import { MIGRATION_3 } from './migration-3.ts';
import { MIGRATION_4 } from './migration-4.ts';
import { MIGRATION_5 } from './migration-5.ts';
import { MIGRATION_6 } from './migration-6.ts';
import { MIGRATION_7 } from './migration-7.ts';
import { MIGRATION_8 } from './migration-8.ts';
import { MIGRATION_9 } from './migration-9.ts';
import { MIGRATION_10 } from './migration-10.ts';
import { MIGRATION_11 } from './migration-11.ts';
import { MIGRATION_12 } from './migration-12.ts';
import { MIGRATION_13 } from './migration-13.ts';
import { MIGRATION_14 } from './migration-14.ts';
import { MIGRATION_15 } from './migration-15.ts';
import { MIGRATION_16 } from './migration-16.ts';
import { MIGRATION_17 } from './migration-17.ts';
import { MIGRATION_18 } from './migration-18.ts';
import { MIGRATION_19 } from './migration-19.ts';
import { MIGRATION_20 } from './migration-20.ts';
import { MIGRATION_21 } from './migration-21.ts';
import { MIGRATION_22 } from './migration-22.ts';
import { MIGRATION_23 } from './migration-23.ts';

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    statements: [
      'CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT',
      'CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, created_at_ms INTEGER NOT NULL) STRICT',
      `CREATE TABLE workspace (
        id TEXT PRIMARY KEY NOT NULL,
        account_id TEXT NOT NULL REFERENCES account (id),
        models TEXT,
        created_at_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE api_key (
        id TEXT PRIMARY KEY NOT NULL,
        name TEXT NOT NULL,
        account_id TEXT NOT NULL REFERENCES account (id),
        workspace_id TEXT NOT NULL REFERENCES workspace (id),
        hash TEXT NOT NULL UNIQUE,
        last4 TEXT NOT NULL,
        previous_hash TEXT UNIQUE,
        previous_expires_at_ms INTEGER,
        models TEXT,
        ips TEXT,
        scopes TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'revoked')),
        created_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER
      ) STRICT`,
      // No foreign keys: a record outlives what it refers to, and the hot path pays for no look-ups. One tree and no
      // index: request ids are UUIDv7, so their order is that of arrival, and a row costs one page at the end of the
      // tree.
      `CREATE TABLE call_record (
        request_id TEXT PRIMARY KEY NOT NULL,
        at_ms INTEGER NOT NULL,
        account TEXT NOT NULL,
        workspace TEXT NOT NULL,
        key_id TEXT NOT NULL,
        key_name TEXT NOT NULL,
        end_user TEXT,
        session TEXT,
        protocol TEXT NOT NULL,
        model TEXT,
        served_model TEXT,
        provider TEXT,
        stream INTEGER NOT NULL,
        status INTEGER NOT NULL,
        error TEXT,
        finish_reason TEXT,
        input INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write_5m INTEGER NOT NULL,
        cache_write_1h INTEGER NOT NULL,
        output INTEGER NOT NULL,
        reasoning INTEGER NOT NULL,
        usage_source TEXT NOT NULL,
        price_version TEXT,
        cost_nano_usd INTEGER,
        ttfb_ms REAL,
        duration_ms REAL NOT NULL,
        attempts TEXT NOT NULL
      ) STRICT, WITHOUT ROWID`,
      `CREATE TRIGGER call_record_keeps BEFORE UPDATE ON call_record
        BEGIN SELECT RAISE(ABORT, 'a call record never changes'); END`,
      `CREATE TRIGGER call_record_stays BEFORE DELETE ON call_record
        BEGIN SELECT RAISE(ABORT, 'a call record is never deleted'); END`,
      "INSERT INTO account (id, created_at_ms) VALUES ('default', $now)",
      "INSERT INTO workspace (id, account_id, models, created_at_ms) VALUES ('default', 'default', NULL, $now)",
    ],
  },
  {
    version: 2,
    statements: ['ALTER TABLE api_key ADD COLUMN strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1))'],
  },
  MIGRATION_3,
  MIGRATION_4,
  MIGRATION_5,
  MIGRATION_6,
  MIGRATION_7,
  MIGRATION_8,
  MIGRATION_9,
  MIGRATION_10,
  MIGRATION_11,
  MIGRATION_12,
  MIGRATION_13,
  MIGRATION_14,
  MIGRATION_15,
  MIGRATION_16,
  MIGRATION_17,
  MIGRATION_18,
  MIGRATION_19,
  MIGRATION_20,
  MIGRATION_21,
  MIGRATION_22,
  MIGRATION_23,
];
