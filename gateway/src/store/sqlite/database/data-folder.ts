/**
 * Creates, checks and locks the data folder: that it exists, belongs to Tollgate, and is readable by its owner only.
 */

import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Unavailable } from '../../ports/store-errors.ts';

/** Any of these files identifies a folder that Tollgate has used before. */
const OUR_FILES = ['tollgate.db', 'master.key', 'lock.db'];

export interface DataFolder {
  /** Whether the folder was missing and has been created. */
  readonly created: boolean;
  /** Sentences for the operator, each with a remedy. */
  readonly warnings: readonly string[];
}

/**
 * Creates the folder with mode 0700 where it is missing. A folder with unrelated files is refused rather than mixed
 * with ours.
 *
 * @throws Error where the folder cannot be created, is not a folder, or holds other files.
 */
export function prepareDataFolder(dataDir: string): DataFolder {
  return inFolder(dataDir, () => prepare(dataDir));
}

function prepare(dataDir: string): DataFolder {
  if (mkdirSync(dataDir, { recursive: true, mode: 0o700 }) !== undefined) {
    // The umask may have removed permissions that are needed.
    chmodSync(dataDir, 0o700);
    return { created: true, warnings: [] };
  }
  const names = readdirSync(dataDir).filter((name) => !name.startsWith('.') && name !== 'lost+found');
  if (names.length > 0 && !names.some((name) => OUR_FILES.includes(name))) {
    throw new Error(
      `${dataDir} is not a Tollgate data folder: it contains ${names[0]}${names.length > 1 ? ` and ${names.length - 1} more` : ''}, expected an empty folder or one that Tollgate created. Name another with TOLLGATE_DATA_DIR.`,
    );
  }
  const mode = statSync(dataDir).mode & 0o777;
  const warnings =
    (mode & 0o077) === 0
      ? []
      : [`Other users can read ${dataDir} (mode ${mode.toString(8)}). Restrict it: chmod 700 ${dataDir}`];
  return { created: false, warnings };
}

/** Does work in a folder. A fault of its permissions, or a file in its place, is told with the folder and a remedy. */
export function inFolder<Made>(folder: string, work: () => Made): Made {
  try {
    return work();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const remedy = 'or name another folder with TOLLGATE_DATA_DIR.';
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      throw new Unavailable(
        'failed',
        `${folder} is not a folder, or a file is on the way to it. Move the file away, ${remedy}`,
      );
    }
    if (!/^(EACCES|EPERM|EROFS|SQLITE_(READONLY|CANTOPEN|PERM))/.test(code)) throw cause;
    const message = cause instanceof Error ? cause.message : '';
    throw new Unavailable(
      'failed',
      `This user cannot use the folder ${folder} (${message}). Run this as the user of the server, ${remedy}`,
    );
  }
}

/** Whether a file exists. @throws Error where this user may not look. */
export function fileExists(path: string): boolean {
  return inFolder(dirname(path), () => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

interface DataLock {
  release(): void;
}

/** Keeps the connections referenced: the garbage collector would close them and release their locks. */
const held = new Set<Database>();

/**
 * Takes the folder's lock, or returns `held` where another process has it; never waits. The lock is SQLite's own on an
 * empty file: the operating system releases it when the process ends for any reason, so that kill -9 leaves nothing to
 * clean up.
 */
export function acquireDataLock(dataDir: string): DataLock | 'held' {
  return inFolder(dataDir, () => acquire(dataDir));
}

function acquire(dataDir: string): DataLock | 'held' {
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
