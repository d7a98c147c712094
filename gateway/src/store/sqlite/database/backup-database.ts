/** Copies a database into a file of its own, in one consistent state, while others write to it. */
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncToDisk } from '../../../lib/sync-to-disk.ts';
import { ConstraintViolation, Unavailable } from '../../ports/store-errors.ts';
import { requireCurrentSchema, type Schema } from '../migrations/migrate.ts';
import { nameSqliteFault } from '../sqlite-fault.ts';
import { openReadConnection } from './connection.ts';
import { fileExists } from './data-folder.ts';
import { refuseForeignLog } from './foreign-log.ts';

/**
 * Copies the database at `from` to `to` (mode 0600) and returns its size in bytes. `complete` gets the copy under a
 * temporary name, may add to it, and throws where it is invalid; `schema`: that of the file, by default the main database's. Only a complete, checked
 * copy that is flushed to the disk gets its final name: a killed backup leaves a file `….partial`, which the next one
 * removes.
 *
 * @throws StoreError where `from` is not a database of ours, `to` exists already or has no folder; also whatever
 * `complete` throws.
 */
export function backupDatabase(from: string, to: string, complete: (copy: string) => void, schema?: Schema): number {
  if (!fileExists(from)) throw new Unavailable('incompatible', `There is no database at ${from}.`);
  refuseForeignLog(from);
  refuseExisting(to);
  const folder = dirname(to);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ConstraintViolation('invalid', `There is no folder ${folder}. Create it, or name another file.`);
  }
  const partial = `${to}.partial`;
  removeDatabase(partial);
  try {
    copyDatabase(from, partial, schema);
    complete(partial);
    syncToDisk(partial);
    giveName(partial, to);
    syncToDisk(folder);
    return statSync(to).size;
  } finally {
    removeDatabase(partial);
  }
}

function copyDatabase(from: string, partial: string, schema?: Schema): void {
  // Creates the file empty with our mode first, so that others can never read the copy, not even while it grows.
  closeSync(openSync(partial, 'wx', 0o600));
  const database = openReadConnection(from);
  try {
    requireCurrentSchema(database, schema);
    database.run('VACUUM INTO ?', [partial]);
  } catch (fault) {
    throw nameSqliteFault(fault);
  } finally {
    database.close();
  }
}

/**
 * Renaming alone would replace a file that took the name in the meantime, so an empty one takes it first. A hard link
 * would do, but FAT and some network mounts have none.
 */
function giveName(partial: string, to: string): void {
  try {
    closeSync(openSync(to, 'wx', 0o600));
  } catch (fault) {
    refuseExisting(to);
    throw fault;
  }
  try {
    renameSync(partial, to);
  } catch (fault) {
    // An empty file must not look like a backup.
    rmSync(to, { force: true });
    throw fault;
  }
}

function refuseExisting(to: string): void {
  if (existsSync(to)) {
    throw new ConstraintViolation('conflict', `The file ${to} exists already. Name another one, or move it away.`);
  }
}

function removeDatabase(path: string): void {
  for (const companion of ['', '-journal', '-wal', '-shm']) rmSync(`${path}${companion}`, { force: true });
}
