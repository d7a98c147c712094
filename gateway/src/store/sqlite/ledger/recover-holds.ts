/**
 * Resolves the holds that calls of dead epochs left open. Runs in the transaction that takes the next epoch: if the
 * process is killed at any point, nothing has happened and the next start repeats all of it.
 */
import type { Database } from 'bun:sqlite';
import type { ReachFailpoint } from '../failpoints.ts';
import type { OpenHoldRow, OperationKeeper } from '../writer/keep-operations.ts';
import type { LedgerBook } from './ledger-book.ts';

/** Number of calls left by the previous process that were charged by their last checkpoint (`posted`) or not at all. */
export interface Recovered {
  readonly posted: number;
  readonly voided: number;
}

const NEXT_DEAD_HOLDS = `SELECT call_id, account, cast(amount AS TEXT) AS amount, draft, checkpoint FROM open_hold
  WHERE epoch < ?1 AND call_id > ?2 ORDER BY call_id LIMIT 1000`;

/** Resolves the holds of all epochs before `epoch`, inside the caller's transaction. */
export function recoverHolds(
  database: Database,
  { book, keeper, epoch }: { readonly book: LedgerBook; readonly keeper: OperationKeeper; readonly epoch: number },
  nowMs: number,
  reach: ReachFailpoint,
): Recovered {
  const next = database.prepare<OpenHoldRow, [number, string]>(NEXT_DEAD_HOLDS);
  const recovered = { posted: 0, voided: 0 };
  book.begin();
  reach('recovery-begun');
  for (let rows = next.all(epoch, ''); rows.length > 0; rows = next.all(epoch, rows.at(-1)?.call_id ?? '')) {
    for (const row of rows) {
      recovered[keeper.endUnended(row, 'gateway_crashed', nowMs)] += 1;
      reach('recovery-call-ended');
    }
  }
  next.finalize();
  book.finish();
  return recovered;
}
