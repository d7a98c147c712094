/** Runs the contract suites against the stores in memory. */
import { testLedger } from '../contracts/ledger-contract.ts';
import { testPolicy } from '../contracts/policy-contract.ts';
import { testProviders } from '../contracts/providers-contract.ts';
import type { NewAuditEntry } from '../ports/audit.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { createMemoryPolicy } from './memory-policy.ts';
import { createMemoryProviders } from './memory-providers.ts';

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

testProviders('memory', async () => {
  const entries: NewAuditEntry[] = [];
  const audit = {
    append: async () => undefined,
    readValues: async () => [],
    read: async () => entries.map((entry, index) => ({ ...entry, seq: index + 1 })).reverse(),
  };
  const store = { providers: createMemoryProviders((kept) => void entries.push(...kept)), audit };
  return { store, restart: async () => undefined, close: async () => undefined };
});

testPolicy('memory', async () => {
  const store = { policies: createMemoryPolicy() };
  return { store, restart: async () => undefined, close: async () => undefined };
});
