/** Opens SQLite connections with their pragmas, and runs transactions and savepoints. */
import { Database } from 'bun:sqlite';
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inFolder } from './data-folder.ts';

/** How long a connection waits for a lock before it fails with SQLITE_BUSY. */
const BUSY_TIMEOUT_MS = 5_000;

/** The path of the database file in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, 'tollgate.db');
}

/**
 * Opens the only writing connection: WAL, and each commit is flushed to the disk before it returns
 * (`synchronous=FULL`). The file is created with mode 0600, which its -wal and -shm companions inherit.
 */
export function openWriteConnection(path: string): Database {
  // Only if it is missing: closing a file releases all locks that the process has on it, also those of its other
  // connections, and another program would then remove the log. https://sqlite.org/howtocorrupt.html (read 2026-11-28).
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, create: false, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    database.run('PRAGMA foreign_keys = ON');
    // Without it, INSERT OR REPLACE deletes rows despite the triggers that forbid it.
    database.run('PRAGMA recursive_triggers = ON');
    database.run('PRAGMA trusted_schema = OFF');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return database;
}

/** Opens a read-only connection; it works while another thread or process writes. */
export function openReadConnection(path: string): Database {
  const database = inFolder(dirname(path), () => new Database(path, { readonly: true, strict: true }));
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    database.run('PRAGMA trusted_schema = OFF');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return database;
}

/** Runs `work` in one transaction; an error rolls it back and is rethrown. */
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

/** Runs `work` in a savepoint of a transaction; an error rolls back only its own changes. */
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
