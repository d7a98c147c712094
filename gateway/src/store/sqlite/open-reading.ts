/** Opens a data folder's database read-only, with or without a running server. */
import { existsSync } from 'node:fs';
import type { StoreReading } from '../ports/store.ts';
import { Unavailable } from '../ports/store-errors.ts';
import { databasePath, openReadConnection } from './database/connection.ts';
import { createQueries } from './database/sqlite-dialect.ts';
import { createCallReader } from './ledger/call-reader.ts';
import { readBalances } from './ledger/fold-balance.ts';
import { requireCurrentSchema } from './migrations/migrate.ts';
import { createPolicyReader } from './policy/policy-store.ts';
import { readProviders } from './policy/provider-store.ts';
import { nameSqliteFault } from './sqlite-fault.ts';

/**
 * Opens a data folder's database read-only; takes no lock.
 *
 * @throws Unavailable where the database is missing, belongs to another program, or has another schema version.
 */
export function openReading(dataDir: string): StoreReading {
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    throw new Unavailable(
      'incompatible',
      `There is no database in ${dataDir}. Start the server once, or name the right data folder with TOLLGATE_DATA_DIR.`,
    );
  }
  const database = openReadConnection(path);
  try {
    requireCurrentSchema(database);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
  const queries = createQueries(database);
  return {
    ...createCallReader(queries),
    ...createPolicyReader(queries),
    readBalances: (account) => readBalances(queries, account ?? null),
    readProviders: () => readProviders(queries),
    close: () => database.close(),
  };
}
