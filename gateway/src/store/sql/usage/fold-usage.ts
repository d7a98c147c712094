/**
 * Owns rolling up call records: a bounded number of them in one transaction, with the mark up to which all are in. Killed at
 * any instruction, a record is in the sums once or, for the next step, not yet.
 */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { Reach } from '../failpoints.ts';
import { inTransaction } from '../in-transaction.ts';
import { QUARTER_MS } from './plan-spans.ts';
import { openSumTables, type SumTable } from './sum-tables.ts';
import { addShare, newTally, SUMMED_COLUMNS, type SummedRecord, shareOf, type Tally } from './tally.ts';
import { openUsageAccounts } from './usage-accounts.ts';
import type { UsageMark } from './usage-mark.ts';
import { openSeriesBook, type SeriesKind } from './usage-series.ts';

export interface UsageFolder {
  /** Answers whether there is more to roll up now. */
  fold(nowMs: number): boolean;
  close(): void;
}

/** Bounds how long a step holds up the writer. */
const STEP_RECORDS = 120;
/** Calls that end later than this after their arrival are noted one by one; younger ones are summed up from their records. */
const LAG_MS = 30_000;

const NEXT_RECORDS = `SELECT ${SUMMED_COLUMNS} FROM call_record WHERE request_id > ? AND request_id < ?
  ORDER BY request_id LIMIT ${STEP_RECORDS}`;
const NEXT_LATE = `SELECT ${SUMMED_COLUMNS} FROM (SELECT request_id AS late FROM usage_late LIMIT ${STEP_RECORDS})
  CROSS JOIN call_record ON request_id = late`;

/** What the records of a step add to one row. */
interface Addition {
  readonly table: SumTable;
  readonly account: number;
  readonly kind: SeriesKind;
  readonly series: number;
  readonly startMs: number;
  readonly tally: Tally;
}

export function openUsageFolder(database: Database, mark: UsageMark, reach: Reach): UsageFolder {
  const nextRecords = database.prepare<SummedRecord, [string, string]>(NEXT_RECORDS);
  const nextLate = database.prepare<SummedRecord, []>(NEXT_LATE);
  const moveMark = database.prepare('UPDATE usage_through SET request_id = ?');
  const forgetLate = database.prepare('DELETE FROM usage_late WHERE request_id = ?');
  const series = openSeriesBook(database);
  const accounts = openUsageAccounts(database);
  const tables = openSumTables(database);

  function addTo(additions: Map<string, Addition>, record: SummedRecord): void {
    const { at_ms } = record;
    const account = accounts.idOf(record.account);
    const share = shareOf(record);
    const add = (table: SumTable, kind: SeriesKind, id: number, startMs: number) => {
      const name = `${table} ${id} ${startMs}`;
      let addition = additions.get(name);
      if (addition === undefined) {
        addition = { table, account, kind, series: id, startMs, tally: newTally() };
        additions.set(name, addition);
      }
      addShare(addition.tally, share);
    };
    const call = series.idOf('call', record);
    add('usage_quarter', 'call', call, Math.floor(at_ms / QUARTER_MS) * QUARTER_MS);
    const dayMs = accounts.dayOf(record.account, at_ms);
    if (dayMs === null) return;
    add('usage_day', 'call', call, dayMs);
    add('usage_caller_day', 'end_user', series.idOf('end_user', record), dayMs);
    add('usage_caller_day', 'session', series.idOf('session', record), dayMs);
  }

  function step(nowMs: number): { through: string; more: boolean } | null {
    const late = nextLate.all();
    const records = nextRecords.all(mark.through, requestIdFloor(nowMs - LAG_MS)).slice(0, STEP_RECORDS - late.length);
    if (late.length + records.length === 0) return null;
    const through = records.at(-1)?.request_id ?? mark.through;
    inTransaction(database, () => {
      accounts.takeZones(nowMs);
      const additions = new Map<string, Addition>();
      for (const record of late) {
        addTo(additions, record);
        forgetLate.run(record.request_id);
      }
      for (const record of records) addTo(additions, record);
      reach('fold-summed');
      for (const addition of additions.values()) tables.add(addition);
      moveMark.run(through);
      reach('fold-before-commit');
    });
    reach('fold-committed');
    return { through, more: late.length + records.length >= STEP_RECORDS };
  }

  return {
    fold(nowMs) {
      try {
        // Nobody was promised these sums: where the power fails they are gone with their mark, and are made anew. The next
        // commit of what was promised takes them to the disk with it. https://sqlite.org/pragma.html#pragma_synchronous
        database.run('PRAGMA synchronous = NORMAL');
        const done = step(nowMs);
        if (done !== null) mark.moved(done.through);
        return done?.more ?? false;
      } catch (fault) {
        series.forget();
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
    },
  };
}
