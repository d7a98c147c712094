/**
 * Indexes where in the ledger the entries of calls are: for each complete range of entries, its lowest and highest
 * call id. Uses ids rather than times, so that a clock that was set back hides no entry. The last, incomplete range is
 * scanned.
 */
import type { Database } from 'bun:sqlite';

/** Entries from `first` to `last`, both inclusive. */
export interface EntryRange {
  readonly first: number;
  readonly last: number;
}

const RANGE_ENTRIES = 1_000;

/** Leaves out top-ups and corrections, whose ids are of another kind. */
const INDEX = `INSERT INTO entry_range (number, first_ref, last_ref)
  SELECT (seq - 1) / ${RANGE_ENTRIES}, coalesce(min(ref) FILTER (WHERE kind NOT IN ('topup', 'correct')), ''),
    coalesce(max(ref) FILTER (WHERE kind NOT IN ('topup', 'correct')), '')
  FROM ledger_entry WHERE seq > (SELECT coalesce(max(number) + 1, 0) FROM entry_range) * ${RANGE_ENTRIES}
  GROUP BY 1 HAVING count(*) = ${RANGE_ENTRIES}`;
const LAST_SEQ = 'SELECT max(seq) AS seq FROM ledger_entry';
const NEXT_NUMBER = 'SELECT coalesce(max(number) + 1, 0) AS number FROM entry_range';
const FIND = 'SELECT number FROM entry_range WHERE first_ref <= ? AND last_ref >= ? ORDER BY number';

/** Indexes every complete range that is not indexed yet. */
export function indexEntryRanges(database: Database): void {
  database.run(INDEX);
}

/**
 * Ascending, without overlap, at most `entriesMax` entries each: together the ranges contain every entry of a call
 * whose id is from `from` to `to`.
 */
export function findEntryRanges(database: Database, from: string, to: string, entriesMax: number): EntryRange[] {
  const read = database.prepare<{ number: number }, [string, string]>(FIND);
  const last = database.query<{ seq: number | null }, []>(LAST_SEQ).get()?.seq ?? 0;
  const ranges: EntryRange[] = [];
  const add = (range: EntryRange) => {
    const before = ranges.at(-1);
    if (before?.last === range.first - 1 && range.last - before.first < entriesMax) {
      ranges[ranges.length - 1] = { first: before.first, last: range.last };
    } else ranges.push(range);
  };
  try {
    for (const { number } of read.all(to, from)) {
      add({ first: number * RANGE_ENTRIES + 1, last: (number + 1) * RANGE_ENTRIES });
    }
  } finally {
    read.finalize();
  }
  for (let first = readNext(database) * RANGE_ENTRIES + 1; first <= last; first += RANGE_ENTRIES) {
    add({ first, last: Math.min(last, first + RANGE_ENTRIES - 1) });
  }
  return ranges;
}

function readNext(database: Database): number {
  return database.query<{ number: number }, []>(NEXT_NUMBER).get()?.number ?? 0;
}
