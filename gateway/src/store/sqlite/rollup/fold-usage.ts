/**
 * Rolls up call records: gathers their sums in memory, in steps of bounded time, and periodically writes them in one
 * transaction with the mark up to which all records are included. Killed at any instruction, a record is in the sums
 * once or, for the next start, not yet.
 */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import { inTransaction } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { openEntryRangeIndex } from '../usage/entry-ranges.ts';
import { openBlockBook } from './block-book.ts';
import { type Additions, gatherAdditions } from './gather-additions.ts';
import { SUMMED_COLUMNS, type SummedRecord } from './tally.ts';
import { openUsageAccounts } from './usage-accounts.ts';
import type { UsageMark } from './usage-mark.ts';
import { openSeriesBook } from './usage-series.ts';

export interface FoldPace {
  /** Approximate length of a step; 0: one piece. */
  readonly stepMs?: number;
  /** How long gathered sums may wait for more before they are written. */
  readonly gatherMs?: number;
}

export interface UsageFolder {
  /** One step: gathers or writes. Returns whether there is more to do now. */
  fold(nowMs: number, pace?: FoldPace): boolean;
  close(): void;
}

/** Limits how long a step holds up the writer. */
const STEP_MS = 5;
/**
 * Rows written at once, which takes 5 to 10 ms. A limit by time would make a busy machine write fewer rows at once, and
 * more per call.
 */
const ROWS_MAX = 1_500;
/** Records between two checks of the clock. */
const PIECE_RECORDS = 50;
/**
 * Calls that end later than this after their arrival are recorded as late one by one; younger ones are summed from
 * their records.
 */
const LAG_MS = 30_000;

const NEXT_RECORDS = `SELECT ${SUMMED_COLUMNS} FROM call_record WHERE request_id > ? AND request_id < ?
  ORDER BY request_id LIMIT ${PIECE_RECORDS}`;
const NEXT_LATE = `SELECT ${SUMMED_COLUMNS}
  FROM (SELECT request_id AS late FROM usage_late WHERE request_id > ? AND request_id <= ? ORDER BY request_id LIMIT ${PIECE_RECORDS})
  CROSS JOIN call_record ON request_id = late ORDER BY late`;

/** Sums that are gathered but not written yet. */
interface Gathered {
  readonly additions: Additions;
  readonly sinceMs: number;
  /** The last record included. */
  through: string;
  /** The late records included, ascending. */
  readonly late: string[];
}

export function openUsageFolder(database: Database, mark: UsageMark, reach: ReachFailpoint): UsageFolder {
  const nextRecords = database.prepare<SummedRecord, [string, string]>(NEXT_RECORDS);
  const nextLate = database.prepare<SummedRecord, [string, string]>(NEXT_LATE);
  const moveMark = database.prepare('UPDATE usage_through SET request_id = ?');
  const forgetLate = database.prepare('DELETE FROM usage_late WHERE request_id = ?');
  const forgetUnwritten = database.prepare('DELETE FROM usage_late WHERE request_id > ?');
  const series = openSeriesBook(database);
  const accounts = openUsageAccounts(database);
  const blocks = openBlockBook(database);
  const entryRanges = openEntryRangeIndex(database);
  let gathered: Gathered | null = null;
  /** Returns whether there is more to gather, or enough is gathered to write. */
  function gather(nowMs: number, stepMs: number): boolean {
    const startMs = performance.now();
    const below = requestIdFloor(nowMs - LAG_MS);
    const late = nextLate.all(gathered?.late.at(-1) ?? '', mark.through);
    let piece = nextRecords.all(mark.gathered, below);
    if (late.length + piece.length === 0 && !entryRanges.hasNext()) return false;
    let more = late.length === PIECE_RECORDS;
    inTransaction(database, () => {
      accounts.takeZones(nowMs);
      // An earlier process may have ended before it wrote what it gathered. The late records it noted are above the
      // mark, and are gathered with the others.
      if (gathered === null) forgetUnwritten.run(mark.through);
      const own = gathered ?? {
        additions: gatherAdditions(series, accounts),
        sinceMs: nowMs,
        through: mark.through,
        late: [],
      };
      gathered = own;
      for (const record of late) {
        own.additions.take(record);
        own.late.push(record.request_id);
      }
      const isOver = () => own.additions.count() >= ROWS_MAX || performance.now() - startMs > stepMs;
      while (piece.length > 0) {
        for (const record of piece) own.additions.take(record);
        own.through = piece.at(-1)?.request_id ?? own.through;
        more ||= piece.length === PIECE_RECORDS && isOver();
        piece = more || piece.length < PIECE_RECORDS ? [] : nextRecords.all(own.through, below);
      }
      while (entryRanges.addNext()) {
        if (performance.now() - startMs < stepMs) continue;
        more ||= entryRanges.hasNext();
        break;
      }
    });
    if (gathered !== null) mark.gather(gathered.through);
    reach('fold-gathered');
    return more;
  }

  function write({ additions, through, late }: Gathered): void {
    inTransaction(database, () => {
      for (const { place, block } of additions.all()) blocks.add(place, block);
      for (const requestId of late) forgetLate.run(requestId);
      moveMark.run(through);
      reach('fold-before-commit');
    });
    mark.moved(through);
    reach('fold-committed');
  }

  function step(nowMs: number, { stepMs = STEP_MS, gatherMs = 0 }: FoldPace): boolean {
    const isDue = gathered !== null && (nowMs - gathered.sinceMs >= gatherMs || gathered.additions.count() >= ROWS_MAX);
    if (gathered === null || !isDue) return gather(nowMs, stepMs) || (gathered !== null && gatherMs === 0);
    write(gathered);
    gathered = null;
    return true;
  }

  return {
    fold(nowMs, pace = {}) {
      try {
        // These sums need not be durable: after a power failure they are missing together with their mark, and are
        // rolled up again. The next durable commit writes them to the disk too.
        // https://sqlite.org/pragma.html#pragma_synchronous
        database.run('PRAGMA synchronous = NORMAL');
        return step(nowMs, pace);
      } catch (fault) {
        gathered = null;
        mark.gather(mark.through);
        series.forget();
        entryRanges.forget();
        throw fault;
      } finally {
        database.run('PRAGMA synchronous = FULL');
      }
    },
    close() {
      for (const statement of [nextRecords, nextLate, moveMark, forgetLate, forgetUnwritten]) statement.finalize();
      series.close();
      accounts.close();
      blocks.close();
      entryRanges.close();
    },
  };
}
