/**
 * Rolls up call records as they enter the tables: gathers their sums in memory, and periodically writes them with the
 * mark up to which all records are included, in the transaction of an ingest. Killed at any instruction, a record is in
 * the sums once or, for the next start, not yet.
 */
import type { Database } from 'bun:sqlite';
import { openBlockBook } from './block-book.ts';
import { type Additions, gatherAdditions } from './gather-additions.ts';
import { SUMMED_COLUMNS, type SummedRecord } from './tally.ts';
import { openUsageAccounts } from './usage-accounts.ts';
import { readUsageMark } from './usage-mark.ts';
import { openSeriesBook } from './usage-series.ts';

/** Every method but `forget` and `close` runs inside the transaction of an ingest. */
export interface UsageFolder {
  /** Call first in each transaction. After a start or `forget` it gathers the records that no sum includes yet. */
  begin(nowMs: number): void;
  take(record: SummedRecord): void;
  /**
   * Call last in each transaction. `block`: the last block whose records were taken. Writes the gathered sums where
   * enough are gathered, or they waited `gatherMs`.
   */
  finish(block: number, nowMs: number, gatherMs: number): void;
  /** Call after a rollback: what was gathered may include records that were not stored. */
  forget(): void;
  /** Call after another write that may have changed an account's time zone. */
  forgetZones(): void;
  close(): void;
}

/** Rows written at once, which takes 5 to 10 ms. */
const ROWS_MAX = 1_500;
/** Every question about usage reads the records that are not in the sums yet. */
const RECORDS_MAX = 5_000;

const NEXT_RECORDS = `SELECT ${SUMMED_COLUMNS} FROM call_record WHERE block > ?`;

/** Sums that are gathered but not written yet. */
interface Gathered {
  readonly additions: Additions;
  readonly sinceMs: number;
  records: number;
}

export function openUsageFolder(database: Database): UsageFolder {
  const nextRecords = database.prepare<SummedRecord, [number]>(NEXT_RECORDS);
  const moveMark = database.prepare('UPDATE usage_through SET block = ?, at_ms = ?');
  const series = openSeriesBook(database);
  const accounts = openUsageAccounts(database);
  const blocks = openBlockBook(database);
  let zonesKnown = false;
  let gathered: Gathered | null = null;

  function take(record: SummedRecord, own: Gathered): void {
    own.additions.take(record);
    own.records += 1;
  }

  return {
    begin(nowMs) {
      if (!zonesKnown) accounts.takeZones(nowMs);
      zonesKnown = true;
      if (gathered !== null) return;
      const own = { additions: gatherAdditions(series, accounts), sinceMs: nowMs, records: 0 };
      for (const record of nextRecords.iterate(readUsageMark(database).block)) take(record, own);
      gathered = own;
    },
    take(record) {
      if (gathered === null) throw new Error('a record was rolled up before the beginning');
      take(record, gathered);
    },
    finish(block, nowMs, gatherMs) {
      if (gathered === null || gathered.records === 0) return;
      const { additions, sinceMs, records } = gathered;
      if (nowMs - sinceMs < gatherMs && additions.count() < ROWS_MAX && records < RECORDS_MAX) return;
      for (const { place, block: sums } of additions.all()) blocks.add(place, sums);
      moveMark.run(block, nowMs);
      gathered = { additions: gatherAdditions(series, accounts), sinceMs: nowMs, records: 0 };
    },
    forget() {
      gathered = null;
      zonesKnown = false;
      series.forget();
    },
    forgetZones() {
      zonesKnown = false;
    },
    close() {
      for (const statement of [nextRecords, moveMark]) statement.finalize();
      series.close();
      accounts.close();
      blocks.close();
    },
  };
}
