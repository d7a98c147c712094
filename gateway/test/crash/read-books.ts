/** Reads a data folder's records, balances and ledger check from the gateway's own database. */
import { prove } from '../../src/cli/commands/data.ts';
import type { AccountBalance } from '../../src/store/ports/ledger.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { databasePath } from '../../src/store/sqlite/database/connection.ts';
import { openReading } from '../../src/store/sqlite/open-store.ts';

export interface Books {
  readonly records: readonly CallRecord[];
  readonly balances: readonly AccountBalance[];
  /** The first violation, or null. */
  readonly disproof: string | null;
}

/** Reads from disk, with or without a running server. */
export async function readBooks(dataDir: string): Promise<Books> {
  const { problem } = prove(databasePath(dataDir));
  const reading = openReading(dataDir);
  try {
    return {
      records: await reading.readCalls({ limit: 10_000_000, sinceMs: null, requestId: null, keyId: null }),
      balances: await reading.readBalances(),
      disproof: problem?.message ?? null,
    };
  } finally {
    reading.close();
  }
}
