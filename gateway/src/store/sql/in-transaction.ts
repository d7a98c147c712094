/** Owns how the writer wraps work in a transaction. */
import type { Database } from 'bun:sqlite';

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
