/** Adds why a call failed to its record. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_23: Migration = {
  version: 23,
  // Hashed with the record where there is one: records without it keep their hashes.
  statements: ['ALTER TABLE call_record ADD COLUMN reason TEXT'],
};
