/**
 * Migrates to version 14: a workspace may inherit from the configuration what is kept of its calls. Shipped migrations
 * never change.
 */
import type { Migration } from './migration.ts';

export const MIGRATION_14: Migration = {
  version: 14,
  statements: [
    // NULL: inherit `defaults` of the configuration. Values that no one chose were stored as off and 30 days so far.
    'ALTER TABLE workspace RENAME COLUMN bodies TO bodies_before',
    'ALTER TABLE workspace RENAME COLUMN bodies_days TO bodies_days_before',
    "ALTER TABLE workspace ADD COLUMN bodies TEXT CHECK (bodies IN ('off', 'errors', 'all'))",
    'ALTER TABLE workspace ADD COLUMN bodies_days INTEGER CHECK (bodies_days >= 1)',
    "UPDATE workspace SET bodies = nullif(bodies_before, 'off'), bodies_days = nullif(bodies_days_before, 30)",
    'ALTER TABLE workspace DROP COLUMN bodies_before',
    'ALTER TABLE workspace DROP COLUMN bodies_days_before',
  ],
};
