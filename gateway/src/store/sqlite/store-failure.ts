/** Defines the failures of the store, with messages that tell an operator what to do. */

/**
 * `full`: the disk has no room. `unwritable`: any other fault of the disk or database. `conflict`: the row to insert
 * exists, or the row to replace does not. `refused`: a value that a column cannot hold. `writer-lost`: the writer died;
 * whether its last batch is on disk is unknown. `reader-lost`: a reading thread died. `closed`: the store has been
 * closed. `schema`: the database has another schema version. `foreign`: not a database of this program.
 */
export type StoreFailureKind =
  | 'full'
  | 'unwritable'
  | 'conflict'
  | 'refused'
  | 'writer-lost'
  | 'reader-lost'
  | 'closed'
  | 'schema'
  | 'foreign';

export class StoreFailure extends Error {
  readonly kind: StoreFailureKind;

  constructor(kind: StoreFailureKind, message: string) {
    super(message);
    this.name = 'StoreFailure';
    this.kind = kind;
  }
}

/** Codes of SQLite and the operating system for a full disk or an exceeded quota. */
const FULL_CODES = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'];

/** Whether a failure means a full disk, for SQLite and other file writes alike. */
export function isDiskFull(fault: unknown): boolean {
  if (fault instanceof StoreFailure) return fault.kind === 'full';
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  return FULL_CODES.some((full) => code.startsWith(full));
}

/** Maps a SQLite fault to a StoreFailure by its result code: https://sqlite.org/rescode.html (read 2026-11-20). */
export function nameSqliteFault(fault: unknown): StoreFailure {
  if (fault instanceof StoreFailure) return fault;
  const message = fault instanceof Error ? fault.message : String(fault);
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  if (isDiskFull(fault)) {
    return new StoreFailure(
      'full',
      `The disk has no room for the database (${message}). Free some space; nothing needs a restart.`,
    );
  }
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') {
    return new StoreFailure('conflict', `It is there already (${message}).`);
  }
  if (code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG' || code === 'SQLITE_MISMATCH') {
    return new StoreFailure('refused', `The database refused a value (${message}).`);
  }
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
    return new StoreFailure(
      'foreign',
      `The file is not a sound database (${message}). Restore it from a backup, or choose another data folder.`,
    );
  }
  return new StoreFailure('unwritable', `The database cannot be used (${message}${code === '' ? '' : `, ${code}`}).`);
}
