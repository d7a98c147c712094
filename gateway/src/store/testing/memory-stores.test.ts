/** Runs the contract suites against the ledger and the policy store in memory. */
import { testLedger } from '../contracts/ledger-contract.ts';
import { testPolicy } from '../contracts/policy-contract.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { createMemoryPolicy } from './memory-policy.ts';

testLedger('memory', async () => {
  const memory = createMemoryLedger();
  return {
    get ledger() {
      return memory.ledger;
    },
    setAccount: async (id, mode) => memory.setAccount(id, mode),
    readCalls: async () => memory.readCalls(),
    prove: () => memory.prove(),
    restart: async () => memory.restart(),
    close: async () => undefined,
  };
});

testPolicy('memory', async () => {
  const store = { policies: createMemoryPolicy() };
  return { store, restart: async () => undefined, close: async () => undefined };
});
