/**
 * Manages ledger epochs: each start takes the next one, whose seal links the new chain to the end of the last, and ends
 * the calls that the last one left open. Runs in one transaction: a killed start has done nothing and is repeated.
 */
import type { Database } from 'bun:sqlite';
import type { ReachFailpoint } from '../failpoints.ts';
import type { OpenHoldRow, OperationKeeper } from '../operations/keep-operations.ts';
import type { LedgerBook } from './ledger-book.ts';
import { NO_HASH, sealEpoch } from './ledger-entry.ts';

export interface Epoch {
  readonly id: number;
  /** The hash before the epoch's first entry, 64 hex digits. */
  readonly seal: string;
}

/** Takes the next epoch. Runs inside the caller's transaction, so that recovery is part of it. */
export function takeEpoch(database: Database, nowMs: number): Epoch {
  const last = readLastEpoch(database);
  const entry = database
    .query<{ epoch: number; hash: string }, []>(
      'SELECT epoch, lower(hex(hash)) AS hash FROM ledger_entry ORDER BY seq DESC LIMIT 1',
    )
    .get();
  const prior = entry !== null && entry.epoch === last?.id ? entry.hash : (last?.seal ?? NO_HASH);
  const id = (last?.id ?? 0) + 1;
  const seal = sealEpoch(prior, id, nowMs);
  database.run('INSERT INTO ledger_epoch (id, started_at_ms, seal) VALUES (?, ?, ?)', [
    id,
    nowMs,
    Buffer.from(seal, 'hex'),
  ]);
  return { id, seal };
}

/** Returns the latest epoch; null: none. */
export function readLastEpoch(database: Database): Epoch | null {
  return database
    .query<Epoch, []>('SELECT id, lower(hex(seal)) AS seal FROM ledger_epoch ORDER BY id DESC LIMIT 1')
    .get();
}

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
