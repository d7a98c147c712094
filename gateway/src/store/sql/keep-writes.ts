/** Owns how administrative writes that come together are kept: one transaction for all, each undone alone where it is refused. */
import type { Database } from 'bun:sqlite';
import { inSavepoint, inTransaction } from './in-transaction.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';
import { failedReply, type WriterFault, type WriterReply, type WriteStatement } from './writer-messages.ts';

/** A write is the statements that take effect all or none. A fault of the disk undoes all writes. */
export function keepWrites(database: Database, writes: readonly (readonly WriteStatement[])[]): WriterReply {
  try {
    const written = inTransaction(database, () => writes.map((statements) => keepWrite(database, statements)));
    return written.every((fault) => fault === null) ? true : { failed: null, refused: [], writes: written };
  } catch (fault) {
    return failedReply(nameSqliteFault(fault));
  }
}

/** The fault of a write that broke a constraint, or met what it did not expect; it is no other write's. */
function keepWrite(database: Database, statements: readonly WriteStatement[]): WriterFault | null {
  try {
    inSavepoint(database, () => {
      for (const statement of statements) runWrite(database, statement);
    });
    return null;
  } catch (fault) {
    const { kind, message } = nameSqliteFault(fault);
    if (kind !== 'conflict' && kind !== 'refused') throw fault;
    return { kind, message };
  }
}

function runWrite(database: Database, { sql, parameters, changes }: WriteStatement): void {
  const statement = database.prepare(sql);
  try {
    const outcome = statement.run(...parameters);
    if (changes !== null && outcome.changes !== changes) {
      throw new StoreFailure(
        'conflict',
        `What was to be changed is not there (${outcome.changes} rows instead of ${changes}).`,
      );
    }
  } finally {
    statement.finalize();
  }
}
