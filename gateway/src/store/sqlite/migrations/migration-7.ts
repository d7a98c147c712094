/** Owns the step to version 7: sound, images and server tools in a record's usage. A step that has shipped never changes. */
import type { Migration } from './migration.ts';

export const MIGRATION_7: Migration = {
  version: 7,
  statements: [
    // JSON text: few calls have it, and hosts name new kinds of tools. Added in place; no row is written anew.
    'ALTER TABLE call_record ADD COLUMN usage_apart TEXT',
  ],
};
