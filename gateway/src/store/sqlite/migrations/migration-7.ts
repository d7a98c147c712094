/** Migrates to version 7: audio, images and server tools in a record's usage. Shipped migrations never change. */
import type { Migration } from './migration.ts';

export const MIGRATION_7: Migration = {
  version: 7,
  statements: [
    // JSON text: few calls have it, and hosts introduce new kinds of tools. Added in place; no row is rewritten.
    'ALTER TABLE call_record ADD COLUMN usage_apart TEXT',
  ],
};
