/** Reads up to which block of the journal records are rolled up. */
import type { Database } from 'bun:sqlite';

export interface UsageMark {
  /** Records of later blocks are not rolled up. */
  readonly block: number;
  /** As `block`, for the sums of charges; less in a database from before them. */
  readonly charges: number;
  /** When the mark was moved last, unix ms; 0: never. */
  readonly atMs: number;
}

/** As the connection's transaction sees it. */
export function readUsageMark(database: Database): UsageMark {
  const row = database.query<UsageMark, []>('SELECT block, charges, at_ms AS atMs FROM usage_through').get();
  if (row === null) throw new Error('the table usage_through has lost its row');
  return row;
}
