/** Runs the contract suites of all ports against the SQLite store. */

import { Secret } from '../../lib/secret.ts';
import { testAlerts } from '../contracts/alerts-contract.ts';
import { RIG_CACHE_LIMITS, testAnswerCache } from '../contracts/answer-cache-contract.ts';
import { testAudit } from '../contracts/audit-contract.ts';
import { testBudgetSpends } from '../contracts/budget-spends-contract.ts';
import { testContent } from '../contracts/content-contract.ts';
import { testGuardrails } from '../contracts/guardrails-contract.ts';
import { testPeople } from '../contracts/people-contract.ts';
import { testPolicy } from '../contracts/policy-contract.ts';
import { testProviders } from '../contracts/providers-contract.ts';
import { testReconciliations } from '../contracts/reconciliation-contract.ts';
import { testKeyUse, testRecords } from '../contracts/records-contract.ts';
import { testSavedViews } from '../contracts/saved-views-contract.ts';
import { testStatements } from '../contracts/statements-contract.ts';
import type { StoreRig } from '../contracts/store-rig.ts';
import { testStoredState } from '../contracts/stored-state-contract.ts';
import { testUsage } from '../contracts/usage-contract.ts';
import type { Store } from '../ports/store.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openStore } from './open-store.ts';

const newFolder = temporaryFolders();
const CONTENT = {
  masterKey: new Secret('5a'.repeat(32)),
  limits: () => ({
    contentBytesMax: 1024 ** 3,
    cacheBytesMax: RIG_CACHE_LIMITS.total,
    cacheBytesPerWorkspaceMax: RIG_CACHE_LIMITS.perWorkspace,
  }),
};

async function openRig(): Promise<StoreRig<keyof Store>> {
  const dataDir = newFolder();
  let store = await openStore({ dataDir, content: CONTENT });
  return {
    get store() {
      return store;
    },
    async restart() {
      await store.close();
      store = await openStore({ dataDir, content: CONTENT });
    },
    close: () => store.close(),
  };
}

for (const suite of [
  testPolicy,
  testProviders,
  testPeople,
  testAudit,
  testRecords,
  testUsage,
  testKeyUse,
  testStatements,
  testBudgetSpends,
  testContent,
  testAnswerCache,
  testStoredState,
  testReconciliations,
  testAlerts,
  testGuardrails,
  testSavedViews,
]) {
  suite('SQLite', openRig);
}
