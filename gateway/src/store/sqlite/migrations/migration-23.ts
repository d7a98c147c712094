/** Migrates to version 23: the reason of a failed call in its record. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_23: Migration = {
  version: 23,
  // Hashed with the record where present: records without a reason keep their hashes.
  statements: ['ALTER TABLE call_record ADD COLUMN reason TEXT'],
};
