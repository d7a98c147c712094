/**
 * Writes rolled-up sums: a block for each place (the calls, end users or sessions of an account's quarter of an hour or
 * day), which grows by parts. A new part takes in earlier ones that are not larger, so that there are few parts and
 * stored sums are seldom rewritten.
 */
import type { Database } from 'bun:sqlite';
import { mergeBlocks, openLatencies, openSums, type PackedBlock, packBlock, type WholeBlock } from './sum-block.ts';
import type { SeriesKind } from './usage-series.ts';

/** Quarters of an hour, and days of the account's zone. */
export type BlockStep = 'quarter' | 'day';

export interface BlockPlace {
  /** The account's number. */
  readonly account: number;
  readonly kind: SeriesKind;
  readonly step: BlockStep;
  readonly startMs: number;
}

export interface BlockBook {
  /** Inside a transaction: adds the sums to those of the place. */
  add(place: BlockPlace, added: WholeBlock): void;
  close(): void;
}

/** Taking in others makes no part larger than this: it would hold up the writer. */
const PART_ROWS_MAX = 8_192;

interface Part {
  readonly id: number;
  readonly rows: number;
}

export function openBlockBook(database: Database): BlockBook {
  const parts = database.prepare<Part, [number, string, string, number]>(
    'SELECT id, rows FROM usage_block WHERE account = ? AND kind = ? AND step = ? AND start_ms = ? ORDER BY id DESC',
  );
  const read = database.prepare<PackedBlock, [number]>('SELECT sums, latencies FROM usage_block WHERE id = ?');
  const insert = database.prepare<unknown, [number, string, string, number, number, Uint8Array, Uint8Array]>(
    'INSERT INTO usage_block (account, kind, step, start_ms, rows, sums, latencies) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const rewrite = database.prepare<unknown, [number, Uint8Array, Uint8Array, number]>(
    'UPDATE usage_block SET rows = ?, sums = ?, latencies = ? WHERE id = ?',
  );
  const remove = database.prepare<unknown, [number]>('DELETE FROM usage_block WHERE id = ?');
  return {
    add({ account, kind, step, startMs }, added) {
      const takenIn = chooseParts(parts.all(account, kind, step, startMs), added.sums.series.length);
      const blocks = takenIn.map((id) => {
        const packed = read.get(id);
        if (packed === null) throw new Error(`part ${id} of the rolled-up usage was there and is not any more`);
        return { sums: openSums(packed.sums), latencies: openLatencies(packed.latencies) };
      });
      const merged = mergeBlocks([...blocks, added]);
      const { sums, latencies } = packBlock(merged);
      const rows = merged.sums.series.length;
      const oldest = takenIn.pop();
      for (const id of takenIn) remove.run(id);
      if (oldest === undefined) insert.run(account, kind, step, startMs, rows, sums, latencies);
      else rewrite.run(rows, sums, latencies, oldest);
    },
    close() {
      for (const statement of [parts, read, insert, rewrite, remove]) statement.finalize();
    },
  };
}

/** Youngest first. */
function chooseParts(parts: readonly Part[], newRows: number): number[] {
  const chosen: number[] = [];
  let sum = newRows;
  for (const { id, rows } of parts) {
    if (rows > sum || rows + sum > PART_ROWS_MAX) break;
    chosen.push(id);
    sum += rows;
  }
  return chosen;
}
