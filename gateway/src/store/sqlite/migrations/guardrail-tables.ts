/** Creates the table of guardrail rules. Columns as in the port `GuardrailStore`; `kind` is what a rule checks. */

export const GUARDRAILS: readonly string[] = [
  `CREATE TABLE guardrail_rule (
    id TEXT PRIMARY KEY NOT NULL,
    account TEXT NOT NULL REFERENCES account (id),
    workspace TEXT REFERENCES workspace (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    items TEXT NOT NULL,
    side TEXT NOT NULL,
    action TEXT NOT NULL,
    fails_open INTEGER NOT NULL,
    receiver TEXT NOT NULL,
    sealed TEXT,
    timeout_ms INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];
