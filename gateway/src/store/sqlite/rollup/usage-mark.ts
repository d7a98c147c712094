/**
 * Tracks the record up to which calls are rolled up, as the writer knows it, and notes the records that arrive later
 * than that.
 */
import type { Database } from 'bun:sqlite';

export interface UsageMark {
  /** The last record that is rolled up, as committed. */
  readonly through: string;
  /** The last record that is rolled up or gathered. */
  readonly gathered: string;
  /**
   * Within the transaction that saves a record: notes it as late where younger ones are gathered already. The
   * comparison costs each record 0.01 µs; a trigger that does the same costs 1.7 µs (2026-11-22).
   */
  noteRecord(requestId: string): void;
  gather(through: string): void;
  /** Call after the transaction that moved the mark has been committed. */
  moved(through: string): void;
  close(): void;
}

export function openUsageMark(database: Database): UsageMark {
  const insertLate = database.prepare('INSERT INTO usage_late (request_id) VALUES (?)');
  let through = readThrough(database);
  let gathered = through;
  return {
    get through() {
      return through;
    },
    get gathered() {
      return gathered;
    },
    noteRecord(requestId) {
      if (requestId <= gathered) insertLate.run(requestId);
    },
    gather(to) {
      gathered = to;
    },
    moved(to) {
      through = to;
    },
    close: () => insertLate.finalize(),
  };
}

/** As the connection's transaction sees it. */
export function readThrough(database: Database): string {
  const row = database.query<{ request_id: string }, []>('SELECT request_id FROM usage_through').get();
  if (row === null) throw new Error('the table usage_through has lost its row');
  return row.request_id;
}
