/**
 * Stores a check value of the master key in the database, derived from it one way, and reads the traces of the master
 * key that a database was used with.
 */
import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { requireKnownSchema } from '../migrations/migrate.ts';
import { nameSqliteFault } from '../sqlite-fault.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { openReadConnection } from './connection.ts';

/** The traces of the master key that a database was used with. */
export interface KeyTrace {
  /** Hex; null: none stored yet. */
  readonly check: string | null;
  /** Whether the database contains anything that needed a master key. */
  readonly isUsed: boolean;
  /** The number of API keys that are not revoked. */
  readonly keys: number;
}

const NO_TRACE: KeyTrace = { check: null, isUsed: false, keys: 0 };
const CHECK_NAME = 'master_key_check';

/** @throws Unavailable where the file is not a valid database, or has a schema that this program cannot upgrade. */
export function readKeyTrace(path: string): KeyTrace {
  if (!existsSync(path) || statSync(path).size === 0) return NO_TRACE;
  const database = openReadConnection(path);
  try {
    const tables = database
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE name IN ('meta', 'api_key')")
      .all();
    // A first start that was interrupted, or a database that opening the store refuses with its own message.
    if (tables.length < 2) return NO_TRACE;
    requireKnownSchema(database);
    const check = database
      .query<{ value: string }, [string]>('SELECT cast(value AS TEXT) AS value FROM meta WHERE name = ?')
      .get(CHECK_NAME);
    const keys = database
      .query<{ all_keys: number; living: number }, []>(
        "SELECT count(*) AS all_keys, count(*) FILTER (WHERE status <> 'revoked') AS living FROM api_key",
      )
      .get();
    return {
      check: check?.value ?? null,
      isUsed: check !== null || (keys?.all_keys ?? 0) > 0,
      keys: keys?.living ?? 0,
    };
  } catch (fault) {
    throw nameSqliteFault(fault);
  } finally {
    database.close();
  }
}

/** 256 bits that reveal nothing about the key. */
export function deriveCheck(key: string): string {
  return Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', 'tollgate master key check v1', 32)).toString(
    'hex',
  );
}

/** Compares two check values in constant time. */
export function isSameCheck(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** The statement that stores a check value in the database. */
export function keepCheck(check: string): WriteStatement {
  return {
    sql: 'INSERT OR REPLACE INTO meta (name, value) VALUES (?, cast(? AS BLOB))',
    parameters: [CHECK_NAME, check],
    changes: 1,
  };
}
