/** Runs the SQLite store for the ledger's tests: over its own folder, restarted on demand, verified. */
import type { LedgerRig } from '../../contracts/ledger-contract.ts';
import { recompute } from '../../testing/sample-call.ts';
import { databasePath } from '../database/connection.ts';
import { openStore } from '../open-store.ts';
import { proveLedger } from '../prove/prove-ledger.ts';

/** A SQLite ledger over an empty folder. */
export async function openLedgerRig(dataDir: string): Promise<LedgerRig> {
  let store = await openStore({ dataDir });
  return {
    get ledger() {
      return store.ledger;
    },
    async setAccount(id, mode) {
      const accounts = await store.policies.readAccounts();
      const known = accounts.find((account) => account.id === id);
      const account = known ?? { id, name: id, markUpPpm: 0, timeZone: 'UTC', holds: null, createdAtMs: 1 };
      await store.policies.save([{ of: 'account', isNew: known === undefined, account: { ...account, mode } }]);
    },
    readCalls: () => store.calls.readCalls({ limit: 100_000, sinceMs: null, requestId: null, keyId: null }),
    prove: () => proveLedger(databasePath(dataDir), recompute),
    // A clean close leaves calls' holds open, as a crash does.
    async restart() {
      await store.close();
      store = await openStore({ dataDir });
      return store.recovered;
    },
    close: () => store.close(),
  };
}
