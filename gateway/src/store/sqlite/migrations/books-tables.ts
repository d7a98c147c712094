/** Creates the tables of imports from other gateways and of reconciliation with providers. */

/** Columns as in the port `ImportedObject`. No foreign keys: end users have no table. */
export const IMPORTED_OBJECTS = [
  `CREATE TABLE imported_object (
    source TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('account', 'workspace', 'key', 'end_user')),
    foreign_id TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    spent INTEGER NOT NULL CHECK (spent >= 0),
    spent_at_ms INTEGER NOT NULL,
    imported_at_ms INTEGER NOT NULL,
    PRIMARY KEY (source, kind, foreign_id)
  ) STRICT, WITHOUT ROWID`,
  // Covers the query that sums up what subjects spent.
  `CREATE INDEX imported_object_spent ON imported_object (subject_kind, subject_id, spent_at_ms, spent)
    WHERE spent <> 0`,
];

/** Exports of providers compared with the records. Columns as in the port `ReconciliationStore`. */
export const RECONCILIATIONS = [
  `CREATE TABLE reconciliation (
    id TEXT PRIMARY KEY NOT NULL,
    providers TEXT NOT NULL,
    format TEXT NOT NULL,
    file TEXT NOT NULL,
    imported_at_ms INTEGER NOT NULL,
    first_day TEXT NOT NULL,
    last_day TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    lines INTEGER NOT NULL,
    billed INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    explained INTEGER NOT NULL,
    findings INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX reconciliation_age ON reconciliation (imported_at_ms)',
  `CREATE TABLE reconciliation_day (
    reconciliation TEXT NOT NULL REFERENCES reconciliation (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    billed_requests INTEGER,
    recorded_requests INTEGER NOT NULL,
    billed INTEGER,
    recorded INTEGER NOT NULL,
    explained INTEGER NOT NULL,
    PRIMARY KEY (reconciliation, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE reconciliation_finding (
    reconciliation TEXT NOT NULL REFERENCES reconciliation (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    cause TEXT NOT NULL,
    amount INTEGER NOT NULL,
    count INTEGER NOT NULL,
    request_id TEXT,
    attempt INTEGER,
    provider_request_id TEXT,
    detail TEXT NOT NULL,
    PRIMARY KEY (reconciliation, seq)
  ) STRICT, WITHOUT ROWID`,
];

/** Of schema version 34. */
export const ALERTS_OF_34 = [
  `CREATE TABLE alert_rule (
    id TEXT PRIMARY KEY NOT NULL,
    account TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    event TEXT NOT NULL,
    threshold INTEGER NOT NULL,
    channel TEXT NOT NULL,
    origin TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_delivery (
    id TEXT PRIMARY KEY NOT NULL,
    rule TEXT NOT NULL REFERENCES alert_rule (id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    next_at_ms INTEGER NOT NULL,
    error TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX alert_delivery_due ON alert_delivery (rule, next_at_ms) WHERE status = 'pending'`,
  'CREATE INDEX alert_delivery_newest ON alert_delivery (rule, created_at_ms)',
];

/** Columns as in the port `AlertStore`. */
export const ALERTS = [
  `CREATE TABLE alert_rule (
    id TEXT PRIMARY KEY NOT NULL,
    account TEXT NOT NULL REFERENCES account (id),
    name TEXT NOT NULL,
    event TEXT NOT NULL,
    threshold INTEGER NOT NULL,
    channel TEXT NOT NULL,
    receiver TEXT NOT NULL,
    sealed TEXT,
    renotify_ms INTEGER,
    quiet_from INTEGER,
    quiet_to INTEGER,
    muted_until_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    evaluated_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE alert_delivery (
    id TEXT PRIMARY KEY NOT NULL,
    rule TEXT NOT NULL REFERENCES alert_rule (id) ON DELETE CASCADE,
    account TEXT NOT NULL,
    event TEXT NOT NULL,
    text TEXT NOT NULL,
    remedy TEXT,
    created_at_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    next_at_ms INTEGER NOT NULL,
    error TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX alert_delivery_due ON alert_delivery (rule, next_at_ms) WHERE status = 'pending'`,
  'CREATE INDEX alert_delivery_newest ON alert_delivery (rule, created_at_ms)',
  'CREATE INDEX alert_delivery_event ON alert_delivery (rule, event, created_at_ms)',
  'CREATE INDEX alert_delivery_inbox ON alert_delivery (account, created_at_ms)',
  `CREATE TABLE alert_seen (
    account TEXT NOT NULL REFERENCES account (id),
    person TEXT NOT NULL,
    seen_at_ms INTEGER NOT NULL,
    PRIMARY KEY (account, person)
  ) STRICT, WITHOUT ROWID`,
];

/** Moves rules and deliveries of schema version 34 to the tables of `ALERTS`. */
export const ALERTS_FROM_34 = [
  'CREATE TEMP TABLE rule_of_34 AS SELECT * FROM alert_rule',
  'CREATE TEMP TABLE delivery_of_34 AS SELECT * FROM alert_delivery',
  'DROP TABLE alert_delivery',
  'DROP TABLE alert_rule',
  ...ALERTS,
  `INSERT INTO alert_rule (id, account, name, event, threshold, channel, receiver, sealed, created_at_ms, evaluated_at_ms)
    SELECT id, account, name, event, threshold, channel, origin, sealed, created_at_ms, created_at_ms FROM rule_of_34`,
  // The id is the hash of what happened, so it identifies the event too.
  `INSERT INTO alert_delivery (id, rule, account, event, text, created_at_ms, status, attempts, next_at_ms, error)
    SELECT d.id, d.rule, r.account, d.id, d.text, d.created_at_ms, d.status, d.attempts, d.next_at_ms, d.error
    FROM delivery_of_34 d JOIN rule_of_34 r ON r.id = d.rule`,
  'DROP TABLE delivery_of_34',
  'DROP TABLE rule_of_34',
];
