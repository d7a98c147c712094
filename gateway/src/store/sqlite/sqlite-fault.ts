/** Maps faults of SQLite and the disk to the errors of the ports, and carries those between threads. */
import { createStoreError, StoreError, type StoreErrorKind } from '../ports/store-errors.ts';

/** A `StoreError` as it crosses threads. */
export interface Fault {
  readonly kind: StoreErrorKind;
  readonly message: string;
}

/** Restores the error. */
export function errorOf({ kind, message }: Fault): StoreError {
  return createStoreError(kind, message);
}

/** Converts a fault for another thread. `otherwise`: as for `nameSqliteFault`. */
export function faultOf(cause: unknown, otherwise?: 'failed' | 'unknown'): Fault {
  const { kind, message } = nameSqliteFault(cause, otherwise);
  return { kind, message };
}

/** Whether only the request is at fault, not the database. */
export function isAboutRequest({ kind }: Fault): boolean {
  return kind === 'conflict' || kind === 'invalid' || kind === 'insufficient_funds';
}

/** Codes of SQLite and the operating system for a full disk or an exceeded quota. */
const FULL_CODES = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT'];

/** Whether a failure means a full disk, for SQLite and other file writes alike. */
export function isDiskFull(fault: unknown): boolean {
  if (fault instanceof StoreError) return fault.kind === 'full';
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  return FULL_CODES.some((full) => code.startsWith(full));
}

/**
 * Maps a SQLite fault to a StoreError by its result code: https://sqlite.org/rescode.html (read 2026-11-20).
 * `otherwise`: the kind of any other fault; `unknown` for one that a commit may have met.
 */
export function nameSqliteFault(fault: unknown, otherwise: 'failed' | 'unknown' = 'failed'): StoreError {
  if (fault instanceof StoreError) return fault;
  const message = fault instanceof Error ? fault.message : String(fault);
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  if (isDiskFull(fault)) {
    return createStoreError(
      'full',
      `The disk has no room for the database (${message}). Free some space; nothing needs a restart.`,
    );
  }
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY') {
    return createStoreError('conflict', `It exists already (${message}).`);
  }
  if (code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_TOOBIG' || code === 'SQLITE_MISMATCH') {
    return createStoreError('invalid', `The database refused a value (${message}).`);
  }
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
    return createStoreError(
      'incompatible',
      `The file is not a valid database (${message}). Restore it from a backup, or choose another data folder.`,
    );
  }
  if (code.startsWith('SQLITE_CANTOPEN')) {
    return createStoreError(
      otherwise,
      `The database cannot be opened (${message}): also to read it, its folder must be writable for this user. Where the disk is read-only, copy the folder to another one.`,
    );
  }
  return createStoreError(otherwise, `The database cannot be used (${message}${code === '' ? '' : `, ${code}`}).`);
}
