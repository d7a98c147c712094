/**
 * Rolls up call records as they enter the tables: gathers their sums in memory, and periodically writes them with the
 * mark up to which all records are included, in the transaction of an ingest. Killed at any instruction, a record is in
 * the sums once or, for the next start, not yet.
 */
import type { Database } from 'bun:sqlite';
import { openBlockBook } from './block-book.ts';
import { type Additions, gatherAdditions } from './gather-additions.ts';
import { type Charge, MONEY_UNIT, SUMMED_COLUMNS, type SummedRecord } from './tally.ts';
import { openUsageAccounts } from './usage-accounts.ts';
import { readUsageMark } from './usage-mark.ts';
import { openSeriesBook } from './usage-series.ts';

/** Every method but `addEarlierCharges`, `forget` and `close` runs inside the transaction of an ingest. */
export interface UsageFolder {
  /** Call first in each transaction. After a start or `forget` it gathers the records that no sum includes yet. */
  begin(nowMs: number): void;
  take(record: SummedRecord, charge: Charge | null): void;
  /**
   * Call last in each transaction. `block`: the last block whose records were taken. Writes the gathered sums where
   * enough are gathered, or they waited `gatherMs`.
   */
  finish(block: number, nowMs: number, gatherMs: number): void;
  /**
   * In a transaction of its own: adds the charges of some records whose usage was rolled up before there were sums of
   * charges. False: no such record is left.
   */
  addEarlierCharges(nowMs: number): boolean;
  /** Call after a rollback: what was gathered may include records that were not stored. */
  forget(): void;
  /** Call after another write that may have changed an account's time zone. */
  forgetZones(): void;
  close(): void;
}

/** Rows written at once, which takes 5 to 10 ms. */
const ROWS_MAX = 1_500;
/** Every question about usage reads the records that are not in the sums yet: these take about 5 ms. */
const RECORDS_MAX = 1_000;
/** Records of an older database whose charges are added at once, which takes about 20 ms. */
const EARLIER_MAX = 2_000;

interface StoredRecord extends SummedRecord {
  readonly key_name: string;
  /** Null: the call was refused. */
  readonly ended_ms: number | null;
  readonly posted_units: number;
  readonly posted_left: number;
}

const STORED_COLUMNS = `${SUMMED_COLUMNS}, key_name, ended_ms,
  coalesce(posted, 0) / ${MONEY_UNIT} AS posted_units, coalesce(posted, 0) % ${MONEY_UNIT} AS posted_left`;
const NEXT_RECORDS = `SELECT ${STORED_COLUMNS} FROM call_record WHERE block > ?`;
const BLOCK_AFTER = `SELECT block FROM call_record INDEXED BY call_record_block
  WHERE block > ? ORDER BY block LIMIT 1 OFFSET ?`;
const EARLIER_CHARGES = `SELECT ${STORED_COLUMNS} FROM call_record WHERE block > ? AND block <= ? AND posted > 0`;

/** Sums that are gathered but not written yet. */
interface Gathered {
  readonly additions: Additions;
  readonly sinceMs: number;
  records: number;
}

/** `earlierMax`: fewer only in tests. */
export function openUsageFolder(database: Database, earlierMax = EARLIER_MAX): UsageFolder {
  const nextRecords = database.prepare<StoredRecord, [number]>(NEXT_RECORDS);
  const earlier = database.prepare<StoredRecord, [number, number]>(EARLIER_CHARGES);
  const blockAfter = database.prepare<{ block: number }, [number, number]>(BLOCK_AFTER);
  const moveMark = database.prepare('UPDATE usage_through SET block = ?, at_ms = ?');
  const moveCharges = database.prepare('UPDATE usage_through SET charges = ?');
  const series = openSeriesBook(database);
  const accounts = openUsageAccounts(database);
  const blocks = openBlockBook(database);
  let zonesKnown = false;
  let gathered: Gathered | null = null;
  /** The sums of charges are behind those of usage: charges are not gathered until they are level. */
  let lacksCharges = false;

  function take(record: SummedRecord, charge: Charge | null, own: Gathered): void {
    own.additions.take(record, lacksCharges ? null : charge);
    own.records += 1;
  }

  function write(additions: Additions): void {
    for (const { place, block } of additions.all()) blocks.add(place, block);
  }

  function knowZones(nowMs: number): void {
    // What is gathered by the old days is gathered again.
    if (!zonesKnown && accounts.takeZones(nowMs)) gathered = null;
    zonesKnown = true;
  }

  return {
    begin(nowMs) {
      knowZones(nowMs);
      if (gathered !== null) return;
      const { block, charges } = readUsageMark(database);
      lacksCharges = charges < block;
      const own = { additions: gatherAdditions(series, accounts), sinceMs: nowMs, records: 0 };
      for (const record of nextRecords.iterate(block)) take(record, storedCharge(record), own);
      gathered = own;
    },
    take(record, charge) {
      if (gathered === null) throw new Error('a record was rolled up before the beginning');
      take(record, charge, gathered);
    },
    finish(block, nowMs, gatherMs) {
      if (gathered === null || gathered.records === 0) return;
      const { additions, sinceMs, records } = gathered;
      if (nowMs - sinceMs < gatherMs && additions.count() < ROWS_MAX && records < RECORDS_MAX) return;
      write(additions);
      moveMark.run(block, nowMs);
      if (!lacksCharges) moveCharges.run(block);
      gathered = { additions: gatherAdditions(series, accounts), sinceMs: nowMs, records: 0 };
    },
    addEarlierCharges(nowMs) {
      const { block, charges } = readUsageMark(database);
      if (charges >= block) return false;
      knowZones(nowMs);
      const to = Math.min(block, blockAfter.get(charges, earlierMax)?.block ?? block);
      const additions = gatherAdditions(series, accounts);
      for (const record of earlier.iterate(charges, to)) {
        const charge = storedCharge(record);
        if (charge !== null) additions.takeCharge(record, charge);
      }
      write(additions);
      moveCharges.run(to);
      // From now on charges are gathered with usage: also those of the records that are gathered already.
      if (to === block) gathered = null;
      return true;
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
      for (const statement of [nextRecords, earlier, blockAfter, moveMark, moveCharges]) statement.finalize();
      series.close();
      accounts.close();
      blocks.close();
    },
  };
}

function storedCharge({ ended_ms: endedMs, key_name: keyName, posted_units: units, posted_left: left }: StoredRecord) {
  return endedMs === null || (units === 0 && left === 0) ? null : { endedMs, keyName, units, left };
}
