/** Sums up what the frames of a batch change in account balances, and writes one row per changed account. */
import type { Database } from 'bun:sqlite';
import { Contradiction } from './contradiction.ts';

interface Change {
  available: bigint;
  held: bigint;
  charged: bigint;
  writtenOff: bigint;
  toppedUp: bigint;
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

const MEMBERS = ['available', 'held', 'charged', 'absorbed', 'topped_up'] as const;

export function openBalanceChanges(database: Database): BalanceChanges {
  const update = database.prepare(
    `UPDATE account_balance SET ${MEMBERS.map((member) => `${member} = ${member} + ?`).join(', ')} WHERE account = ?`,
  );
  const insert = database.prepare(
    `INSERT INTO account_balance (${MEMBERS.join(', ')}, account) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const changes = new Map<string, Change>();
  return {
    of(account) {
      let change = changes.get(account);
      if (change === undefined) {
        change = { available: 0n, held: 0n, charged: 0n, writtenOff: 0n, toppedUp: 0n };
        changes.set(account, change);
      }
      return change;
    },
    write() {
      for (const [account, { available, held, charged, writtenOff, toppedUp }] of changes) {
        const values = [available, held, charged, writtenOff, toppedUp];
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
