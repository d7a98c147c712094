/** Owns making a store's database full and giving it room again, for tests: its pages are used up by somebody else. */
import { Database } from 'bun:sqlite';
import { databasePath } from '../database/connection.ts';
import type { Store } from '../open-store.ts';
import { sampleRecord } from './sample-record.ts';

/** A bound on the database's size for the store under test; a filled database is beyond it, an empty one far below. */
export const FILLED_BYTES = 1_200_000;

function change(dataDir: string, ...statements: readonly string[]): void {
  const database = new Database(databasePath(dataDir));
  database.run('PRAGMA busy_timeout = 5000');
  for (const statement of statements) database.run(statement);
  database.close();
}

/** Rejects once the store, which has the bound, takes nothing any more: it is away from then on. */
export async function fillDatabase(dataDir: string, store: Pick<Store, 'recorder'>): Promise<void> {
  change(dataDir, 'CREATE TABLE filler (bytes BLOB)', `INSERT INTO filler VALUES (zeroblob(${FILLED_BYTES}))`);
  // Larger than a page: it never fits into the room that is left in those of the tables.
  await store.recorder.append(sampleRecord('filler', { session: 'x'.repeat(20_000) }));
}

/** Harmless where there is room. */
export function giveRoom(dataDir: string): void {
  change(dataDir, 'DROP TABLE IF EXISTS filler');
}
