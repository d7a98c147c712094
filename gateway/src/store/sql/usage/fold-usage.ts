/**
 * Owns rolling up call records: for a bounded time in one transaction, with the mark up to which all are in. Killed at any
 * instruction, a record is in the sums once or, for the next step, not yet.
 */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { Reach } from '../failpoints.ts';
import { inTransaction } from '../in-transaction.ts';
import { gatherAdditions } from './gather-additions.ts';
import { openStretchBook } from './ledger-stretches.ts';
import { openSumTables } from './sum-tables.ts';
import { SUMMED_COLUMNS, type SummedRecord } from './tally.ts';
import { openUsageAccounts } from './usage-accounts.ts';
import type { UsageMark } from './usage-mark.ts';
import { openSeriesBook } from './usage-series.ts';

export interface UsageFolder {
  /** Answers whether there is more to roll up now. `stepMs`: how long it goes on at about; 0 is one piece. */
  fold(nowMs: number, stepMs?: number): boolean;
  close(): void;
}

/** Bounds how long a step holds up the writer. */
const STEP_MS = 5;
/** Records between two looks at the clock. */
const PIECE_RECORDS = 50;
/** Calls that end later than this after their arrival are noted one by one; younger ones are summed up from their records. */
const LAG_MS = 30_000;

const NEXT_RECORDS = `SELECT ${SUMMED_COLUMNS} FROM call_record WHERE request_id > ? AND request_id < ?
  ORDER BY request_id LIMIT ${PIECE_RECORDS}`;
const NEXT_LATE = `SELECT ${SUMMED_COLUMNS} FROM (SELECT request_id AS late FROM usage_late LIMIT ${PIECE_RECORDS})
  CROSS JOIN call_record ON request_id = late`;

export function openUsageFolder(database: Database, mark: UsageMark, reach: Reach): UsageFolder {
  const nextRecords = database.prepare<SummedRecord, [string, string]>(NEXT_RECORDS);
  const nextLate = database.prepare<SummedRecord, []>(NEXT_LATE);
  const moveMark = database.prepare('UPDATE usage_through SET request_id = ?');
  const forgetLate = database.prepare('DELETE FROM usage_late WHERE request_id = ?');
  const series = openSeriesBook(database);
  const accounts = openUsageAccounts(database);
  const tables = openSumTables(database);
  const stretches = openStretchBook(database);
  /** What writing a row took lately. The rows of a step are written at its end, and belong to its time. */
  let rowMs = 0.02;

  function step(nowMs: number, stepMs: number): { through: string; more: boolean } | null {
    const startMs = performance.now();
    const below = requestIdFloor(nowMs - LAG_MS);
    const late = nextLate.all();
    let piece = nextRecords.all(mark.through, below);
    if (late.length + piece.length === 0 && !stretches.hasNext()) return null;
    let { through } = mark;
    let more = late.length === PIECE_RECORDS;
    inTransaction(database, () => {
      accounts.takeZones(nowMs);
      const additions = gatherAdditions(series, accounts);
      for (const record of late) {
        additions.take(record);
        forgetLate.run(record.request_id);
      }
      const isOver = () => performance.now() - startMs + additions.count() * rowMs > stepMs;
      while (piece.length > 0) {
        for (const record of piece) additions.take(record);
        through = piece.at(-1)?.request_id ?? through;
        more ||= piece.length === PIECE_RECORDS && isOver();
        piece = more || piece.length < PIECE_RECORDS ? [] : nextRecords.all(through, below);
      }
      reach('fold-summed');
      const writeMs = performance.now();
      for (const addition of additions.all()) tables.add(addition);
      if (additions.count() > 0) rowMs = (rowMs * 3 + (performance.now() - writeMs) / additions.count()) / 4;
      if (through !== mark.through) moveMark.run(through);
      while (stretches.noteNext()) {
        if (performance.now() - startMs < stepMs) continue;
        more ||= stretches.hasNext();
        break;
      }
      reach('fold-before-commit');
    });
    reach('fold-committed');
    return { through, more };
  }

  return {
    fold(nowMs, stepMs = STEP_MS) {
      try {
        // Nobody was promised these sums: where the power fails they are gone with their mark, and are made anew. The next
        // commit of what was promised takes them to the disk with it. https://sqlite.org/pragma.html#pragma_synchronous
        database.run('PRAGMA synchronous = NORMAL');
        const done = step(nowMs, stepMs);
        if (done !== null) mark.moved(done.through);
        return done?.more ?? false;
      } catch (fault) {
        series.forget();
        stretches.forget();
        throw fault;
      } finally {
        database.run('PRAGMA synchronous = FULL');
      }
    },
    close() {
      for (const statement of [nextRecords, nextLate, moveMark, forgetLate]) statement.finalize();
      series.close();
      accounts.close();
      tables.close();
      stretches.close();
    },
  };
}
