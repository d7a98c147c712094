/** Sums up what the frames of a batch change in account balances, and writes one row per changed account. */
import type { Database } from 'bun:sqlite';
import { EMPTY_BALANCE } from '../../ledger/fold-balance.ts';
import { Contradiction } from './contradiction.ts';

interface Change {
  available: bigint;
  held: bigint;
  charged: bigint;
  writtenOff: bigint;
  toppedUp: bigint;
  absorbedAttempts: bigint;
}

/** Every method but `close` runs inside the transaction of an ingest. */
export interface BalanceChanges {
  /** The account's change so far; the caller adds to it. */
  of(account: string): Change;
  write(): void;
  /** Drops the changes of a batch that was rolled back. */
  forget(): void;
  close(): void;
}

const MEMBERS = ['available', 'held', 'charged', 'absorbed', 'topped_up', 'absorbed_attempts'] as const;

export function openBalanceChanges(database: Database): BalanceChanges {
  const update = database.prepare(
    `UPDATE account_balance SET ${MEMBERS.map((member) => `${member} = ${member} + ?`).join(', ')} WHERE account = ?`,
  );
  const insert = database.prepare(
    `INSERT INTO account_balance (${MEMBERS.join(', ')}, account) VALUES (${MEMBERS.map(() => '?').join(', ')}, ?)`,
  );
  const changes = new Map<string, Change>();
  return {
    of(account) {
      let change = changes.get(account);
      if (change === undefined) {
        change = { ...EMPTY_BALANCE };
        changes.set(account, change);
      }
      return change;
    },
    write() {
      for (const [account, change] of changes) {
        const { available, held, charged, writtenOff, toppedUp, absorbedAttempts } = change;
        const values = [available, held, charged, writtenOff, toppedUp, absorbedAttempts];
        // Binding silently truncates larger values to their last 64 bits.
        if (values.some((value) => BigInt.asIntN(64, value) !== value)) {
          throw new Contradiction(`the balance of account ${account} leaves the range of 64 bits`);
        }
        if (update.run(...values, account).changes === 0) insert.run(...values, account);
      }
      changes.clear();
    },
    forget: () => changes.clear(),
    close() {
      update.finalize();
      insert.finalize();
    },
  };
}
