/** Owns the step to version 9: what is odd about a call's usage, and a quick way to what the operator bore. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_9: Migration = {
  version: 9,
  statements: [
    // A JSON list of words; NULL: nothing is odd.
    'ALTER TABLE call_record ADD COLUMN usage_flags TEXT',
    // Few calls have one, so it costs the others nothing; it has all that summing up what subjects spent asks for.
    "CREATE INDEX ledger_absorbed ON ledger_entry (ref, amount) WHERE kind = 'absorb'",
  ],
};
