/**
 * Keeps the number of each account, the time zone in which its days are cut, and the first day from which they are
 * complete.
 */
import type { Database } from 'bun:sqlite';
import { windowAt } from '../../../admission/window.ts';

export interface UsageAccount {
  readonly id: number;
  readonly timeZone: string;
  readonly sinceMs: number;
}

export interface UsageAccounts {
  /**
   * Inside a transaction, before records are folded: applies changed time zones. Days in the new zone begin with the
   * next day. Returns whether a zone is new or changed.
   */
  takeZones(nowMs: number): boolean;
  /** @throws Error for an unknown account. */
  idOf(account: string): number;
  /**
   * The start of the day that contains a moment; null: that day is not kept, because the account's zone changed after
   * it.
   */
  dayOf(account: string, atMs: number): number | null;
  close(): void;
}

interface ZoneRow {
  readonly account: string;
  readonly now: string;
  readonly id: number | null;
  readonly timeZone: string | null;
  readonly sinceMs: number | null;
}

const READ_ZONES = `SELECT account.id AS account, account.time_zone AS now, u.id AS id, u.time_zone AS timeZone, u.since_ms AS sinceMs
  FROM account LEFT JOIN usage_account u ON u.account = account.id`;
const KEEP_ZONE = `INSERT INTO usage_account (account, time_zone, since_ms) VALUES (?, ?, ?)
  ON CONFLICT (account) DO UPDATE SET time_zone = excluded.time_zone, since_ms = excluded.since_ms RETURNING id`;
const NEWEST_QUARTER = "SELECT max(start_ms) AS startMs FROM usage_block WHERE account = ? AND step = 'quarter'";

export function openUsageAccounts(database: Database): UsageAccounts {
  const read = database.prepare<ZoneRow, []>(READ_ZONES);
  const keep = database.prepare<{ id: number }, [string, string, number]>(KEEP_ZONE);
  const newestQuarter = database.prepare<{ startMs: number | null }, [number]>(NEWEST_QUARTER);
  const known = new Map<string, UsageAccount>();
  const days = new Map<string, { readonly timeZone: string; readonly startMs: number; readonly endMs: number }>();
  const accountOf = (account: string): UsageAccount => {
    const found = known.get(account);
    if (found === undefined) throw new Error(`a record is of account ${account}, which is not there`);
    return found;
  };
  return {
    takeZones(nowMs) {
      let hasChanged = false;
      for (const { account, now, id, timeZone, sinceMs } of read.all()) {
        if (now === timeZone && id !== null && sinceMs !== null) {
          known.set(account, { id, timeZone, sinceMs });
          continue;
        }
        // Sums by the old days stay stored, but are no longer read: the clock may have been ahead when they were made.
        const newest = Math.max(nowMs, id === null ? 0 : (newestQuarter.get(id)?.startMs ?? 0));
        const since = timeZone === null ? 0 : (windowAt('day', now, newest).endMs ?? 0);
        const row = keep.get(account, now, since);
        if (row === null) throw new Error(`account ${account} got no number for its usage`);
        known.set(account, { id: row.id, timeZone: now, sinceMs: since });
        hasChanged = true;
      }
      return hasChanged;
    },
    idOf: (account) => accountOf(account).id,
    dayOf(account, atMs) {
      const { timeZone, sinceMs } = accountOf(account);
      if (atMs < sinceMs) return null;
      // Records come in order of arrival: most are in the same day as the one before, and asking the calendar takes 20
      // µs.
      const last = days.get(account);
      if (last?.timeZone === timeZone && atMs >= last.startMs && atMs < last.endMs) return last.startMs;
      const { startMs, endMs } = windowAt('day', timeZone, atMs);
      days.set(account, { timeZone, startMs, endMs: endMs ?? startMs });
      return startMs;
    },
    close() {
      read.finalize();
      keep.finalize();
      newestQuarter.finalize();
    },
  };
}

/** Null: nothing of the account is rolled up yet. */
export function readUsageAccount(database: Database, account: string): UsageAccount | null {
  return database
    .query<UsageAccount, [string]>(
      'SELECT id, time_zone AS timeZone, since_ms AS sinceMs FROM usage_account WHERE account = ?',
    )
    .get(account);
}
