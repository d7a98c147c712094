/** Reads the mark of the journal: up to which block the tables have it. */
import type { Database } from 'bun:sqlite';
import type { JournalEnd } from '../../ports/journal.ts';
import { openReadConnection } from '../database/connection.ts';

export interface StreamMark extends JournalEnd {
  /** The stream's 16 bytes. */
  readonly stream: Uint8Array;
}

/** Null: the folder has no journal yet. */
export function findMark(database: Database): StreamMark | null {
  return database.query<StreamMark, []>('SELECT id AS stream, epoch, seq, head FROM stream').get();
}

/** @throws Error where the folder has no journal yet */
export function readMark(database: Database): StreamMark {
  const mark = findMark(database);
  if (mark === null) throw new Error('the table stream has lost its row');
  return mark;
}

/** The last block that is in the database at `path` by now, which a connection in a transaction does not see; 0: none. */
export function readMarkNow(path: string): number {
  const database = openReadConnection(path);
  try {
    return findMark(database)?.seq ?? 0;
  } finally {
    database.close();
  }
}
