/**
 * Migrates to version 6: the ledger's index contains only the entries that are looked up, and a hold's draft no longer
 * repeats the hold's columns. Shipped migrations never change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_6: Migration = {
  version: 6,
  statements: [
    'DROP INDEX ledger_entry_once',
    // That a call is held and ended once follows from the keys of open_hold and call_record, which change in the same
    // transaction; an index for it cost a call 3 to 4 µs. With OR instead of IN, SQLite recognizes that an entry of one
    // kind is in the index (https://sqlite.org/partialindex.html, read 2026-11-22), and IN costs each entry a
    // microsecond more.
    `CREATE UNIQUE INDEX ledger_entry_once ON ledger_entry (ref, kind, nth)
      WHERE kind = 'topup' OR kind = 'correct' OR kind = 'absorb'`,
    // The call's id and its account, the first and the third items of the list.
    "UPDATE open_hold SET draft = json_remove(draft, '$[2]', '$[0]')",
  ],
};
