/** Owns looking into a data folder's database without changing it: beside a running server, or without one. */
import { existsSync } from 'node:fs';
import type { Ledger } from '../ledger-port.ts';
import type { PolicyReader } from '../policy-port.ts';
import type { CallReader } from '../ports.ts';
import type { ProviderBook } from '../provider-port.ts';
import { createCallReader } from './call-reader.ts';
import { databasePath, openReadConnection } from './connection.ts';
import { readBalances } from './fold-balance.ts';
import { requireCurrentSchema } from './migrate.ts';
import { createPolicyBookReader } from './policy-book.ts';
import { readProviders } from './provider-book.ts';
import { createQueries } from './sqlite-dialect.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';

export interface StoreReading
  extends CallReader,
    PolicyReader,
    Pick<Ledger, 'readBalances'>,
    Pick<ProviderBook, 'readProviders'> {
  close(): void;
}

/**
 * Opens a data folder's database for reading only; takes no lock.
 *
 * @throws StoreFailure where there is no database, it is not ours, or its tables are not those of this program.
 */
export function openReading(dataDir: string): StoreReading {
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    throw new StoreFailure(
      'foreign',
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
    ...createPolicyBookReader(queries),
    readBalances: (account) => readBalances(queries, account ?? null),
    readProviders: () => readProviders(queries),
    close: () => database.close(),
  };
}
