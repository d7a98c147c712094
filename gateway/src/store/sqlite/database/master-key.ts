/**
 * Reads, creates and replaces the data folder's master key, from which every other key of the service is derived, and
 * compares it with the check value in the database it belongs to. The other keys are derived elsewhere.
 */
import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Secret } from '../../../lib/secret.ts';
import { syncToDisk } from '../../../lib/sync-to-disk.ts';
import { requireKnownSchema } from '../migrations/migrate.ts';
import { nameSqliteFault } from '../sqlite-fault.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { databasePath, openReadConnection, openWriteConnection } from './connection.ts';
import { inFolder } from './data-folder.ts';
import { refuseForeignLog } from './foreign-log.ts';

export interface MasterKey {
  /** 64 hex characters. */
  readonly key: Secret;
  /** Sentences for the operator, each with a remedy. */
  readonly warnings: readonly string[];
  /** The statement that saves the key's check value once the database has its tables; null: it is saved already. */
  readonly bind: WriteStatement | null;
}

const REMEDY =
  'Put back the master.key of this data folder, from where you keep it (a backup of the database does not contain it). If it is lost for good, "tollgate replace-master-key --lost" creates a new one and says what must be set again.';

/**
 * Loads the data folder's master key: 32 random bytes in hex, in `master.key` (mode 0600). The caller holds the data lock,
 * so that two starting processes agree on one. Created atomically where it is missing; never where the database was used
 * with another key, because no API key would work.
 *
 * @throws Error for a file that is not a master key, for the key of another database, and for a missing key of a used
 * database.
 */
export function loadMasterKey(dataDir: string): MasterKey {
  const path = join(dataDir, 'master.key');
  const trace = readKeyTrace(databasePath(dataDir));
  const found = readIfThere(path);
  if (found === null && trace.isUsed) {
    throw new Error(
      `${path} is missing, but the database was used with one: without it no API key is recognized. ${REMEDY}`,
    );
  }
  const text = (found ?? createKeyFile(path)).trim();
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new Error(
      `${path} is not a master key: found ${text.length} characters, expected 64 hex digits. Restore it from a backup; without it no API key works.`,
    );
  }
  const check = deriveCheck(text);
  if (trace.check !== null && !isSameCheck(trace.check, check)) {
    throw new Error(`${path} is not the master key of this database: with it no API key is recognized. ${REMEDY}`);
  }
  const mode = statSync(path).mode & 0o777;
  const warnings =
    (mode & 0o077) === 0
      ? []
      : [`Other users can read ${path} (mode ${mode.toString(8)}). Restrict it: chmod 600 ${path}`];
  return { key: new Secret(text), warnings, bind: trace.check === null ? checkStatement(check) : null };
}

export interface ReplacedMasterKey {
  /** The new path of the file that did not match; null: there was none. */
  readonly movedTo: string | null;
  /** The number of API keys that are not revoked: each needs a new secret. */
  readonly keys: number;
}

/**
 * Creates a new master key where the one that the database was used with is lost. The caller holds the data lock.
 * Killed at any moment, it leaves a folder that refuses to start or one with the new key; it can be run again.
 *
 * @throws Error where there is no database, or the existing master key matches the database.
 */
export function replaceMasterKey(dataDir: string, nowMs: number): ReplacedMasterKey {
  const path = join(dataDir, 'master.key');
  if (!existsSync(databasePath(dataDir))) throw new Error(`There is no database in ${dataDir}: no master key is lost.`);
  const trace = readKeyTrace(databasePath(dataDir));
  const found = readIfThere(path)?.trim() ?? null;
  if (found !== null && (trace.check === null || isSameCheck(trace.check, deriveCheck(found)))) {
    throw new Error(
      trace.check === null
        ? `${path} exists, and the database has no check value to compare it with: start the server once.`
        : `${path} is the master key of this database: nothing is lost, and nothing was changed.`,
    );
  }
  if (found === null && !trace.isUsed)
    throw new Error('The database was not used with a master key yet: start the server, which creates one.');
  const draft = writeDraft(path);
  try {
    runStatement(databasePath(dataDir), checkStatement(deriveCheck(readFileSync(draft, 'utf8').trim())));
    const movedTo = found === null ? null : `${path}.replaced-${nowMs}`;
    if (movedTo !== null) renameSync(path, movedTo);
    renameSync(draft, path);
    syncToDisk(dirname(path));
    return { movedTo, keys: trace.keys };
  } finally {
    rmSync(draft, { force: true });
  }
}

function runStatement(path: string, { sql, parameters }: WriteStatement): void {
  const database = openWriteConnection(path);
  try {
    database.prepare(sql).run(...parameters);
  } finally {
    database.close();
  }
}

function readIfThere(path: string): string | null {
  try {
    return inFolder(dirname(path), () => readFileSync(path, 'utf8'));
  } catch (fault) {
    if (isCode(fault, 'ENOENT')) return null;
    throw fault;
  }
}

/** Creates the file under its final name complete or not at all. */
function createKeyFile(path: string): string {
  renameSync(writeDraft(path), path);
  syncToDisk(dirname(path));
  return readFileSync(path, 'utf8');
}

function writeDraft(path: string): string {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(file);
  } catch (fault) {
    rmSync(draft, { force: true });
    throw fault;
  } finally {
    closeSync(file);
  }
  return draft;
}

function isCode(fault: unknown, code: string): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === code;
}

/** The traces of the master key that a database was used with. */
interface KeyTrace {
  /** Hex; null: none stored yet. */
  readonly check: string | null;
  /** Whether the database contains anything that needed a master key. */
  readonly isUsed: boolean;
  /** The number of API keys that are not revoked. */
  readonly keys: number;
}

const NO_TRACE: KeyTrace = { check: null, isUsed: false, keys: 0 };
const CHECK_NAME = 'master_key_check';

/** @throws Unavailable where the file is not a valid database, has the log of another one beside it, or has a schema that this program cannot upgrade. */
function readKeyTrace(path: string): KeyTrace {
  if (!existsSync(path) || statSync(path).size === 0) return NO_TRACE;
  refuseForeignLog(path);
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
function deriveCheck(key: string): string {
  return Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', 'tollgate master key check v1', 32)).toString(
    'hex',
  );
}

/** Compares two check values in constant time. */
function isSameCheck(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** The statement that stores a check value in the database. */
function checkStatement(check: string): WriteStatement {
  return {
    sql: 'INSERT OR REPLACE INTO meta (name, value) VALUES (?, cast(? AS BLOB))',
    parameters: [CHECK_NAME, check],
    changes: 1,
  };
}
