/** Makes a store's database full and gives it space again, for tests: another connection uses up its pages. */
import { Database } from 'bun:sqlite';
import type { Store } from '../../ports/store.ts';
import { databasePath } from '../database/connection.ts';

/** A maximum size for the database of the store under test; a filled database exceeds it, an empty one is far below. */
export const FILLED_BYTES = 1_200_000;

function change(dataDir: string, ...statements: readonly string[]): void {
  const database = new Database(databasePath(dataDir));
  database.run('PRAGMA busy_timeout = 5000');
  for (const statement of statements) database.run(statement);
  database.close();
}

/** Rejects once the database of the store, which has the maximum, accepts nothing more. */
export async function fillDatabase(dataDir: string, store: Pick<Store, 'policies'>): Promise<void> {
  change(dataDir, 'CREATE TABLE filler (bytes BLOB)', `INSERT INTO filler VALUES (zeroblob(${FILLED_BYTES}))`);
  // Larger than a page: it never fits into the free space of the tables' pages.
  const name = 'x'.repeat(20_000);
  const account = { id: 'filler', name, mode: 'postpaid', markUpPpm: 0, timeZone: 'UTC', holds: null, createdAtMs: 1 };
  await store.policies.save([{ of: 'account', isNew: true, account: { ...account, mode: 'postpaid' } }]);
}

/** Harmless if there is space. */
export function giveRoom(dataDir: string): void {
  change(dataDir, 'DROP TABLE IF EXISTS filler');
}
