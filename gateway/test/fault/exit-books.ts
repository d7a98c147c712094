/** Reads records, ledger entries, holds and balances from a gateway's database while it runs. */
import { Database } from 'bun:sqlite';
import { databasePath } from '../../src/store/sqlite/database/connection.ts';

export interface RecordLine {
  readonly request_id: string;
  readonly key_id: string;
  readonly status: bigint;
  readonly error: string | null;
  readonly usage_source: string;
  readonly stream: bigint;
  readonly input: bigint;
  readonly output: bigint;
  readonly cost_nano_usd: bigint | null;
}

export interface EntryLine {
  readonly ref: string;
  readonly kind: string;
  readonly amount: bigint;
  readonly released: bigint;
}

export interface BalanceLine {
  readonly available: bigint;
  readonly held: bigint;
  readonly charged: bigint;
  readonly writtenOff: bigint;
  readonly topped_up: bigint;
}

export interface Books {
  /** Returns the records of a key's calls, oldest first. */
  recordsOf(keyId: string): readonly RecordLine[];
  record(requestId: string): RecordLine | null;
  /** Returns the entries of a call, oldest first. */
  entriesOf(requestId: string): readonly EntryLine[];
  balanceOf(account: string): BalanceLine;
  openHolds(): readonly { readonly call_id: string; readonly account: string; readonly checkpoint: string | null }[];
  close(): void;
}

/** Opens the database of a data folder read-only; a server may write to it meanwhile. */
export function openBooks(dataDir: string): Books {
  const database = new Database(databasePath(dataDir), { readonly: true, safeIntegers: true });
  const records = 'SELECT * FROM call_record WHERE';
  const byKey = database.query<RecordLine, [string]>(`${records} key_id = ? ORDER BY request_id`);
  const byId = database.query<RecordLine, [string]>(`${records} request_id = ?`);
  const entries = database.query<EntryLine, [string]>('SELECT * FROM ledger_entry WHERE ref = ? ORDER BY seq');
  const balance = database.query<BalanceLine, [string]>('SELECT * FROM account_balance WHERE account = ?');
  const holds = database.query<{ call_id: string; account: string; checkpoint: string | null }, []>(
    'SELECT * FROM open_hold ORDER BY call_id',
  );
  return {
    recordsOf: (keyId) => byKey.all(keyId),
    record: (requestId) => byId.get(requestId),
    entriesOf: (requestId) => entries.all(requestId),
    balanceOf(account) {
      const found = balance.get(account);
      if (found === null) throw new Error(`the account ${account} has no balance`);
      return found;
    },
    openHolds: () => holds.all(),
    close: () => database.close(),
  };
}
