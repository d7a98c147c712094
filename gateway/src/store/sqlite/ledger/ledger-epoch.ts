/** Manages ledger epochs: each start takes the next one, whose seal links the new chain to the end of the last. */
import type { Database } from 'bun:sqlite';
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
