/** Reads ledger entries from their table, together with the record of the call that an entry ends. Verifies nothing. */
import type { Database } from 'bun:sqlite';
import { CALL_RECORD_COLUMNS, recordText } from './call-record-row.ts';
import type { LedgerEntry } from './ledger-entry.ts';

export type RecordColumn = (typeof CALL_RECORD_COLUMNS)[number];
type Value = string | number | null;

/** Amounts as text: beyond 2^53 a number would silently lose its last digits. */
const ENTRY = `seq, epoch, kind, ref, nth, e.account, prepaid, cast(amount AS TEXT), cast(released AS TEXT), e.at_ms, note,
  lower(hex(hash))`;
const RECORD = CALL_RECORD_COLUMNS.map((column) =>
  column === 'cost_nano_usd' ? 'cast(r.cost_nano_usd AS TEXT)' : `r.${column}`,
);

/** Rows are `EntryValues`; conditions may use `seq`. */
export const SELECT_ENTRIES = `SELECT ${ENTRY}, ${RECORD.join(', ')}
  FROM ledger_entry e LEFT JOIN call_record r ON e.kind IN ('post', 'void') AND r.request_id = e.ref`;

/** An entry's values, then those of the record of the call that it ends, all null without a record. */
export type EntryValues = readonly [
  seq: number,
  epoch: number,
  kind: LedgerEntry['kind'],
  ref: string,
  nth: number,
  account: string,
  prepaid: number,
  amount: string,
  released: string,
  at_ms: number,
  note: string | null,
  hash: string,
  ...record: Value[],
];
const RECORD_AT = 12;
const RECORD_PLACES = Object.fromEntries(CALL_RECORD_COLUMNS.map((column, at) => [column, RECORD_AT + at])) as Readonly<
  Record<RecordColumn, number>
>;

export function entryOf(values: EntryValues): LedgerEntry {
  const [seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note] = values;
  return {
    seq,
    epoch,
    kind,
    ref,
    nth,
    account,
    prepaid: prepaid === 1,
    amount: BigInt(amount),
    released: BigInt(released),
    at_ms,
    note,
  };
}

/** The stored hash of the entry, 64 hex digits. */
export function hashOf(values: EntryValues): string {
  return values[11];
}

/** Whether the call that the entry ends has a record. */
export function hasRecord(values: EntryValues): boolean {
  return values[RECORD_AT] !== null;
}

/** The record's value in a column; amounts are decimal text. */
export function recordValue(values: EntryValues, column: RecordColumn): Value {
  return values[RECORD_PLACES[column]] as Value;
}

/** The record text hashed with the entry; null: none. `lastWithout`: see `readLastWithout`. */
export function hashedRecordOf(values: EntryValues, lastWithout: number): string | null {
  if (values[0] <= lastWithout || !hasRecord(values)) return null;
  return recordText(values.slice(RECORD_AT, -1) as Value[], String(values.at(-1)));
}

/** Reads the last entry whose hash covers no record; hashes up to it cover entries alone. */
export function readLastWithout(database: Database): number {
  const row = database
    .query<{ seq: string }, []>("SELECT cast(value AS TEXT) AS seq FROM meta WHERE name = 'entries_without_records'")
    .get();
  return Number(row?.seq ?? 0);
}
