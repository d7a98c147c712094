/** Owns a batch of operations in one transaction, in which a single one that is refused takes none of the others with it. */
import type { Database } from 'bun:sqlite';
import type { Reach } from './failpoints.ts';
import { inSavepoint, inTransaction } from './in-transaction.ts';
import { CleanRefusal, type OperationKeeper } from './keep-operations.ts';
import type { LedgerBook } from './ledger-book.ts';
import type { Operation } from './ledger-operations.ts';
import { nameSqliteFault, type StoreFailure } from './store-failure.ts';
import type { RefusedOperation } from './writer-messages.ts';

/** An operation failed half-way: the transaction is undone, to be run again with a savepoint around each operation. */
class HalfDone extends Error {}

export interface BatchTools {
  readonly book: LedgerBook;
  readonly keeper: OperationKeeper;
  readonly reach: Reach;
}

/**
 * Keeps all operations of the batch but those it answers with. Savepoints would cost every operation a microsecond for
 * what almost never happens, so the batch is tried without them first.
 *
 * @throws the database's fault where nothing of the batch was kept.
 */
export function keepBatch(
  database: Database,
  tools: BatchTools,
  operations: readonly Operation[],
  nowMs: number,
): RefusedOperation[] {
  try {
    return runBatch(database, tools, operations, nowMs, false);
  } catch (fault) {
    if (!(fault instanceof HalfDone)) throw fault;
    return runBatch(database, tools, operations, nowMs, true);
  }
}

function runBatch(
  database: Database,
  { book, keeper, reach }: BatchTools,
  operations: readonly Operation[],
  nowMs: number,
  careful: boolean,
): RefusedOperation[] {
  const refused: RefusedOperation[] = [];
  reach('before-begin');
  inTransaction(database, () => {
    reach('after-begin');
    book.begin();
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index] as Operation;
      const page = careful ? book.mark() : null;
      try {
        if (page === null) keeper.keep(operation, nowMs);
        else inSavepoint(database, () => keeper.keep(operation, nowMs));
      } catch (fault) {
        const failure = refusalOf(fault);
        if (page !== null) book.restore(page);
        else if (!(fault instanceof CleanRefusal)) throw new HalfDone();
        refused.push({ index, fault: { kind: failure.kind, message: failure.message } });
      }
    }
    reach('before-balances');
    book.finish();
    reach('before-commit');
  });
  book.keep();
  reach('after-commit');
  return refused;
}

/** The fault of one operation alone. @throws the fault where it is the database's, which no operation gets past. */
function refusalOf(fault: unknown): StoreFailure {
  const failure = nameSqliteFault(fault);
  if (failure.kind !== 'conflict' && failure.kind !== 'refused') throw fault;
  return failure;
}
