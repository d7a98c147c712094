/** Owns the lock of a data folder: one server, or one command that writes, at a time. */
import { Database } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

export interface DataLock {
  release(): void;
}

/** A connection that nothing refers to is closed by the garbage collector, and its lock with it. */
const held = new Set<Database>();

/**
 * Takes the folder's lock, or says that somebody holds it; never waits. The lock is SQLite's own on an empty file: the
 * operating system lets go of it when the process ends, however it ends, so that kill -9 leaves nothing to clean up.
 */
export function acquireDataLock(dataDir: string): DataLock | 'held' {
  const path = join(dataDir, 'lock.db');
  closeSync(openSync(path, 'a', 0o600));
  const database = new Database(path, { readwrite: true, create: false });
  try {
    database.run('PRAGMA locking_mode = EXCLUSIVE');
    database.run('BEGIN EXCLUSIVE');
  } catch (fault) {
    database.close();
    if (fault instanceof Error && 'code' in fault && String(fault.code).startsWith('SQLITE_BUSY')) return 'held';
    throw fault;
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.close();
    },
  };
}
