/**
 * Migrates to version 9: usage anomalies of a call, and an index of the amounts written off (paid by the operator).
 * Shipped migrations never change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_9: Migration = {
  version: 9,
  statements: [
    // A JSON list of words; NULL: no anomaly.
    'ALTER TABLE call_record ADD COLUMN usage_flags TEXT',
    // Few calls have one, so it costs the others nothing; it covers the query that sums up what subjects spent.
    "CREATE INDEX ledger_absorbed ON ledger_entry (ref, amount) WHERE kind = 'absorb'",
  ],
};
