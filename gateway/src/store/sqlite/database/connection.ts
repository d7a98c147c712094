/** Owns how a SQLite connection is opened: which pragmas, which promises. Knows no table. */
import { Database } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** How long a connection waits for another's lock before it gives up with SQLITE_BUSY. */
const BUSY_TIMEOUT_MS = 5_000;

/** The database's file in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, 'tollgate.db');
}

/**
 * The one connection that writes: WAL, and each commit forced to the disk before it returns (`synchronous=FULL`).
 * The file is made with mode 0600, which its -wal and -shm companions inherit.
 */
export function openWriteConnection(path: string): Database {
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    database.run('PRAGMA foreign_keys = ON');
    // Without it INSERT OR REPLACE deletes rows past the triggers that forbid it.
    database.run('PRAGMA recursive_triggers = ON');
    database.run('PRAGMA trusted_schema = OFF');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return database;
}

/** A connection that only reads; it works beside the writer of another thread or process. */
export function openReadConnection(path: string): Database {
  const database = new Database(path, { readonly: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA trusted_schema = OFF');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return database;
}

/** Runs `work` in one transaction; what it throws undoes all of it and is thrown on. */
export function inTransaction<Outcome>(database: Database, work: () => Outcome): Outcome {
  database.run('BEGIN IMMEDIATE');
  try {
    const outcome = work();
    database.run('COMMIT');
    return outcome;
  } catch (fault) {
    // A full disk may have rolled back already: https://sqlite.org/lang_transaction.html (read 2026-11-20).
    if (database.inTransaction) database.run('ROLLBACK');
    throw fault;
  }
}

/** Runs `work` within a transaction so that what it throws undoes only what it did. */
export function inSavepoint(database: Database, work: () => void): void {
  database.run('SAVEPOINT part');
  try {
    work();
  } catch (fault) {
    if (database.inTransaction) database.run('ROLLBACK TO part');
    throw fault;
  } finally {
    if (database.inTransaction) database.run('RELEASE part');
  }
}
