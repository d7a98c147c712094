/**
 * Migrates to version 22: limit rules in two layers, the operator's and the account's own, and the zones of budget
 * windows that were running when a time zone changed. Shipped migrations never change.
 */
import type { Migration } from './migration.ts';

/** The account of a rule's subject. */
const ACCOUNT = `CASE kind
    WHEN 'key' THEN (SELECT account_id FROM api_key WHERE api_key.id = limit_rule.id)
    WHEN 'workspace' THEN (SELECT account_id FROM workspace WHERE workspace.id = limit_rule.id)
    WHEN 'end_user' THEN substr(id, 1, instr(id, '/') - 1)
    WHEN 'account' THEN id
  END`;

/** Audit entries that set caps of a rule's subject, with whether only a person or key of the account did it. */
const SETTINGS = `SELECT
    coalesce(
      CASE actor_kind
        WHEN 'person' THEN EXISTS (SELECT 1 FROM membership WHERE person = actor_id AND membership.account = ruled.account)
          AND NOT EXISTS (SELECT 1 FROM membership WHERE person = actor_id AND membership.account = 'default')
        WHEN 'key' THEN EXISTS (SELECT 1 FROM api_key WHERE api_key.id = actor_id AND account_id = ruled.account)
      END, 0) AS is_own
  FROM audit_entry
  WHERE audit_entry.account = ruled.account AND subject_kind = ruled.kind AND subject_id = ruled.id
    AND coalesce(after ->> '$.rpm', after ->> '$.tpm', after ->> '$.concurrency', after ->> '$.budget_nano_usd') IS NOT NULL`;

export const MIGRATION_22: Migration = {
  version: 22,
  statements: [
    `CREATE TABLE layered_limit_rule (
      kind TEXT NOT NULL CHECK (kind IN ('key', 'end_user', 'workspace', 'account', 'model')),
      id TEXT NOT NULL,
      layer TEXT NOT NULL CHECK (layer IN ('operator', 'account')),
      requests_per_minute INTEGER CHECK (requests_per_minute >= 1),
      tokens_per_minute INTEGER CHECK (tokens_per_minute >= 1),
      concurrency INTEGER CHECK (concurrency >= 1),
      budget_nano_usd INTEGER CHECK (budget_nano_usd >= 0),
      budget_window TEXT CHECK (budget_window IN ('day', 'week', 'month', 'total')),
      PRIMARY KEY (kind, id, layer),
      CHECK (layer = 'operator' OR kind <> 'model'),
      CHECK ((budget_nano_usd IS NULL) = (budget_window IS NULL)),
      CHECK (coalesce(requests_per_minute, tokens_per_minute, concurrency, budget_nano_usd) IS NOT NULL)
    ) STRICT, WITHOUT ROWID`,
    // A rule is the account's own where, according to the audit trail, only its people have set it; otherwise the
    // operator's.
    `INSERT INTO layered_limit_rule
      SELECT kind, id,
        CASE WHEN account <> 'default'
            AND EXISTS (${SETTINGS}) AND NOT EXISTS (SELECT 1 FROM (${SETTINGS}) WHERE NOT is_own)
          THEN 'account' ELSE 'operator' END,
        requests_per_minute, tokens_per_minute, concurrency, budget_nano_usd, budget_window
      FROM (SELECT *, ${ACCOUNT} AS account FROM limit_rule) AS ruled`,
    'DROP TABLE limit_rule',
    'ALTER TABLE layered_limit_rule RENAME TO limit_rule',
    'ALTER TABLE account ADD COLUMN window_zones TEXT',
    'ALTER TABLE api_key ADD COLUMN disabled_by_operator INTEGER NOT NULL DEFAULT 0 CHECK (disabled_by_operator IN (0, 1))',
    `UPDATE api_key SET disabled_by_operator = 1
      WHERE status = 'disabled' AND disabled_by = 'command_line' AND account_id <> 'default'`,
  ],
};
