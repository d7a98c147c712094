/** Owns the ways in which keeping something fails, in words that tell an operator what to do. */

/**
 * `full`: no room on the disk. `unwritable`: any other fault of the disk or database. `conflict`: what was to be
 * inserted is there already, or what was to be replaced is not. `refused`: a value that a column cannot hold.
 * `writer-lost`: the writer died; whether its last batch is on disk is not known. `reader-lost`: a thread that reads died.
 * `closed`: the store has been closed.
 * `schema`: a database of another version. `foreign`: not a database of ours.
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

/** By which SQLite and the system say that the disk, or what the user may take of it, is full. */
const FULL_CODES = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'];

/** Whether something failed because the disk has no room, whoever wrote. */
export function isDiskFull(fault: unknown): boolean {
  if (fault instanceof StoreFailure) return fault.kind === 'full';
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  return FULL_CODES.some((full) => code.startsWith(full));
}

/** Names a fault of SQLite by its result code: https://sqlite.org/rescode.html (read 2026-11-20). */
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
