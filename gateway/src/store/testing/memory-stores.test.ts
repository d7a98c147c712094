/** Runs the contract suites against the ledger and the policy store in memory. */
import { testLedger } from '../contracts/ledger-contract.ts';
import { testPolicy } from '../contracts/policy-contract.ts';
import type { AccountMode } from '../ports/ledger.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { createMemoryPolicy } from './memory-policy.ts';

testLedger('memory', async () => {
  const modes = new Map<string, AccountMode>([['default', 'postpaid']]);
  const ledger = createMemoryLedger(modes);
  return {
    ledger,
    setAccount: async (id, mode) => void modes.set(id, mode),
    readCalls: async () => [...ledger.records.values()],
    prove: () => ledger.prove(),
    restart: async () => ledger.recover(),
    close: async () => undefined,
  };
});

testPolicy('memory', async () => {
  const store = { policies: createMemoryPolicy() };
  return { store, restart: async () => undefined, close: async () => undefined };
});
