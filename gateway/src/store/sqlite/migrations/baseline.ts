/**
 * Creates the current schema in an empty database. Column order, and the place of each constraint, is what the upgrades
 * of older databases lead to.
 */
import { ALERTS, IMPORTED_OBJECTS, RECONCILIATIONS } from './books-tables.ts';
import { USAGE_BLOCK, USAGE_BLOCK_PLACE, USAGE_SERIES_CHARGE } from './charge-sums.ts';
import { GUARDRAILS } from './guardrail-tables.ts';
import { PEOPLE_TABLES } from './people-tables.ts';
import { PROVIDER_TABLES } from './provider-tables.ts';
import { REASON_COLUMNS, REASON_INDEX } from './reason-columns.ts';
import { RECORD_CHUNKS } from './record-chunks.ts';
import { SAVED_VIEWS } from './saved-view-tables.ts';
import { CREATED_OBJECTS, KEPT_CONVERSATIONS, STORED_STATE } from './stored-tables.ts';

/** Its statements run in one transaction, together with the new version number. */
export interface Migration {
  readonly version: number;
  /** `$now` in a statement stands for the time of the migration, unix ms. */
  readonly statements: readonly string[];
}

const ACCOUNTS_AND_KEYS = [
  'CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) STRICT',
  // NULL in `holds`: the configuration's mode. `window_zones`: the time zones of budget windows that were running when
  // the account's zone changed.
  `CREATE TABLE account (
    id TEXT PRIMARY KEY NOT NULL,
    created_at_ms INTEGER NOT NULL,
    mode TEXT NOT NULL DEFAULT 'postpaid' CHECK (mode IN ('postpaid', 'prepaid')),
    mark_up_ppm INTEGER NOT NULL DEFAULT 0,
    time_zone TEXT NOT NULL DEFAULT 'UTC',
    holds TEXT CHECK (holds IN ('adaptive', 'strict')),
    name TEXT NOT NULL DEFAULT '',
    window_zones TEXT
  ) STRICT`,
  // NULL in `bodies` and `bodies_days`: `defaults` of the configuration; in `required_tags`: none; in `cache`
  // (JSON): answers are not cached.
  `CREATE TABLE workspace (
    id TEXT PRIMARY KEY NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    models TEXT,
    created_at_ms INTEGER NOT NULL,
    bodies TEXT CHECK (bodies IN ('off', 'errors', 'all')),
    bodies_days INTEGER CHECK (bodies_days >= 1),
    required_tags TEXT,
    cache TEXT
  ) STRICT`,
  // NULL in `holds`: the account's mode; in `created_by`: the command line. `tags`: a JSON object.
  `CREATE TABLE api_key (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES account (id),
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    hash TEXT NOT NULL UNIQUE,
    last4 TEXT NOT NULL,
    previous_hash TEXT UNIQUE,
    previous_expires_at_ms INTEGER,
    models TEXT,
    ips TEXT,
    scopes TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'revoked')),
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1)),
    holds TEXT CHECK (holds IN ('adaptive', 'strict')),
    created_by TEXT,
    previous_last4 TEXT,
    disabled_by TEXT,
    disabled_by_operator INTEGER NOT NULL DEFAULT 0 CHECK (disabled_by_operator IN (0, 1)),
    required_tags TEXT,
    tags TEXT
  ) STRICT`,
  // One row per secret of a key: the current one, and the previous one during the grace period of a rotation.
  'CREATE TABLE key_use (hash TEXT PRIMARY KEY NOT NULL, at_ms INTEGER NOT NULL, client TEXT) STRICT, WITHOUT ROWID',
  // No foreign keys: models are named by the configuration, end users by the caller.
  `CREATE TABLE limit_rule (
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
  "INSERT INTO account (id, created_at_ms, name) VALUES ('default', $now, 'default')",
  "INSERT INTO workspace (id, account_id, models, created_at_ms) VALUES ('default', 'default', NULL, $now)",
];

const CALLS_AND_LEDGER = [
  // No foreign keys: a record outlives what it refers to, and the hot path pays for no look-ups. One tree and no index:
  // request ids are UUIDv7, so their order is that of arrival, and a row costs one page at the end of the tree.
  // `usage_apart`: JSON of audio, images and server tools. `usage_flags`: a JSON list. `reason`: JSON. `held` (all that
  // the call held), `posted`, `written_off` and `ended_ms` are NULL for calls that held nothing, and for records from
  // before the journal, whose ledger lines are in ledger_entry. `block`: the block of the journal with the call's end;
  // of records from before the journal 0 where they were not rolled up at the upgrade, else NULL. `trace_id`: few calls
  // have one, and only those are in its index.
  `CREATE TABLE call_record (
    request_id TEXT PRIMARY KEY NOT NULL,
    at_ms INTEGER NOT NULL,
    account TEXT NOT NULL,
    workspace TEXT NOT NULL,
    key_id TEXT NOT NULL,
    key_name TEXT NOT NULL,
    end_user TEXT,
    session TEXT,
    protocol TEXT NOT NULL,
    model TEXT,
    served_model TEXT,
    provider TEXT,
    stream INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error TEXT,
    finish_reason TEXT,
    input INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    output INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    usage_source TEXT NOT NULL,
    price_version TEXT,
    cost_nano_usd INTEGER,
    ttfb_ms REAL,
    duration_ms REAL NOT NULL,
    attempts TEXT NOT NULL,
    usage_apart TEXT,
    usage_flags TEXT,
    reason TEXT,
    held INTEGER,
    posted INTEGER,
    written_off INTEGER,
    ended_ms INTEGER,
    block INTEGER,
    trace_id TEXT,
    ${REASON_COLUMNS.join(',\n    ')},
    cached_from TEXT,
    masked TEXT
  ) STRICT, WITHOUT ROWID`,
  // Finds the records of one block, and those that are not rolled up yet.
  'CREATE INDEX call_record_block ON call_record (block) WHERE block IS NOT NULL',
  // Few calls are in it: all others ended within an hour of the time in their id.
  'CREATE INDEX call_record_long ON call_record (account, ended_ms) WHERE abs(ended_ms - at_ms) > 3600000',
  'CREATE INDEX call_record_trace ON call_record (trace_id) WHERE trace_id IS NOT NULL',
  REASON_INDEX,
  `CREATE TRIGGER call_record_keeps BEFORE UPDATE ON call_record
    BEGIN SELECT RAISE(ABORT, 'a call record never changes'); END`,
  `CREATE TRIGGER call_record_stays BEFORE DELETE ON call_record
    BEGIN SELECT RAISE(ABORT, 'a call record is never deleted'); END`,
  // The ledger of calls from before the journal: nothing is added to these tables.
  'CREATE TABLE ledger_epoch (id INTEGER PRIMARY KEY, started_at_ms INTEGER NOT NULL, seal BLOB NOT NULL) STRICT',
  // `ref` is the id of the call or movement, `prepaid` the account's mode at the time. No CHECK on the kind: it would
  // cost a hot row 1.5 µs, and `verify` checks it.
  `CREATE TABLE ledger_entry (
    seq INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    nth INTEGER NOT NULL,
    account TEXT NOT NULL,
    prepaid INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    released INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    note TEXT,
    hash BLOB NOT NULL
  ) STRICT`,
  // That a call is held and ended once follows from the keys of open_hold and call_record, which change in the same
  // transaction; an index for it cost a call 3 to 4 µs. With OR instead of IN, SQLite recognizes that an entry of one
  // kind is in the index (https://sqlite.org/partialindex.html, read 2026-11-22), and IN costs each entry a microsecond
  // more.
  `CREATE UNIQUE INDEX ledger_entry_once ON ledger_entry (ref, kind, nth)
    WHERE kind = 'topup' OR kind = 'correct' OR kind = 'absorb'`,
  // Few calls have one, so it costs the others nothing; it covers the query that sums up what subjects spent.
  "CREATE INDEX ledger_absorbed ON ledger_entry (ref, amount) WHERE kind = 'absorb'",
  // Partial: entries of calls pay only for the check of their kind.
  "CREATE INDEX ledger_entry_movement ON ledger_entry (account, seq) WHERE kind IN ('topup', 'correct')",
  'CREATE TABLE ledger_seal (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, seal BLOB NOT NULL) STRICT',
  ...['epoch', 'entry', 'seal'].flatMap((table) => [
    `CREATE TRIGGER ledger_${table}_keeps BEFORE UPDATE ON ledger_${table}
      BEGIN SELECT RAISE(ABORT, 'the ledger never changes'); END`,
    `CREATE TRIGGER ledger_${table}_stays BEFORE DELETE ON ledger_${table}
      BEGIN SELECT RAISE(ABORT, 'nothing of the ledger is ever deleted'); END`,
  ]),
  // Records up to the first have no entries; the hashes of entries up to the second cover the entries alone. Only
  // databases from before 2026-11-21 have such.
  "INSERT INTO meta (name, value) VALUES ('records_before_ledger', CAST('' AS BLOB))",
  "INSERT INTO meta (name, value) VALUES ('entries_without_records', CAST('0' AS BLOB))",
  // From calls to their entries: range n covers entries n * 1000 + 1 to (n + 1) * 1000; both texts are '' where none of
  // them belongs to a call.
  'CREATE TABLE entry_range (number INTEGER PRIMARY KEY, first_ref TEXT NOT NULL, last_ref TEXT NOT NULL) STRICT',
  `CREATE TABLE account_balance (
    account TEXT PRIMARY KEY NOT NULL REFERENCES account (id),
    available INTEGER NOT NULL,
    held INTEGER NOT NULL CHECK (held >= 0),
    charged INTEGER NOT NULL,
    absorbed INTEGER NOT NULL,
    topped_up INTEGER NOT NULL,
    absorbed_attempts INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
  // One row per running call, deleted at settlement. `draft` and `checkpoint` are JSON lists, `job` is a JSON object.
  `CREATE TABLE open_hold (
    call_id TEXT PRIMARY KEY NOT NULL,
    epoch INTEGER NOT NULL,
    account TEXT NOT NULL,
    amount INTEGER NOT NULL,
    extensions INTEGER NOT NULL,
    draft TEXT NOT NULL,
    checkpoint TEXT,
    job TEXT
  ) STRICT, WITHOUT ROWID`,
];

const JOURNAL = [
  // The mark: every block up to `seq` is in the tables. `head` is its hash, or, before the first block, the last hash
  // of the ledger from before the journal; `id` names the stream of blocks.
  `CREATE TABLE stream (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id BLOB NOT NULL CHECK (length(id) = 16),
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    head BLOB NOT NULL CHECK (length(head) = 32)
  ) STRICT`,
  // Last the bytes: the other columns are read without them.
  `CREATE TABLE block (
    seq INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    frames INTEGER NOT NULL,
    prev BLOB NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL
  ) STRICT`,
  // Top-ups and corrections. `block`: the block of the journal.
  `CREATE TABLE movement (
    kind TEXT NOT NULL CHECK (kind IN ('topup', 'correct')),
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    amount INTEGER NOT NULL,
    note TEXT,
    at_ms INTEGER NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX movement_account ON movement (account, at_ms)',
  ...['block', 'movement'].flatMap((table) => [
    `CREATE TRIGGER ${table}_keeps BEFORE UPDATE ON ${table}
      BEGIN SELECT RAISE(ABORT, 'a ${table} never changes'); END`,
    `CREATE TRIGGER ${table}_stays BEFORE DELETE ON ${table}
      BEGIN SELECT RAISE(ABORT, 'a ${table} is never deleted'); END`,
  ]),
  `CREATE TRIGGER stream_advances BEFORE UPDATE ON stream WHEN NEW.id <> OLD.id OR NEW.seq < OLD.seq
    BEGIN SELECT RAISE(ABORT, 'the mark of the journal never goes back'); END`,
  `CREATE TRIGGER stream_stays BEFORE DELETE ON stream
    BEGIN SELECT RAISE(ABORT, 'the mark of the journal is never deleted'); END`,
];

const IDEMPOTENT_RUNS = [
  // `ended` NULL: the run is in progress, or its process died.
  `CREATE TABLE idempotent_run (
    key_id TEXT NOT NULL,
    name_hash TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    call_id TEXT NOT NULL,
    begun_at_ms INTEGER NOT NULL,
    ended TEXT CHECK (ended IN ('kept', 'incomplete', 'too_large', 'no_room')),
    PRIMARY KEY (key_id, name_hash)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX idempotent_run_age ON idempotent_run (begun_at_ms)',
  // A table of its own, so that the table of runs stays small although responses take megabytes.
  'CREATE TABLE idempotent_answer (call_id TEXT PRIMARY KEY NOT NULL, sealed BLOB NOT NULL) STRICT',
  // Total bytes of a key's responses, updated with them: a sum for each new response would cost more than storing it.
  `CREATE TABLE idempotent_share (
    key_id TEXT PRIMARY KEY NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
  ) STRICT, WITHOUT ROWID`,
];

const AUDIT_TRAIL = [
  // No foreign keys: an entry outlives what it refers to. `before` and `after` are JSON of the members that changed.
  `CREATE TABLE audit_entry (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    account TEXT NOT NULL,
    workspace TEXT,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'key', 'command_line', 'anonymous')),
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    address TEXT,
    act TEXT NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    before TEXT,
    after TEXT
  ) STRICT`,
  'CREATE INDEX audit_entry_account ON audit_entry (account, seq)',
  `CREATE TRIGGER audit_entry_keeps BEFORE UPDATE ON audit_entry
    BEGIN SELECT RAISE(ABORT, 'the audit trail never changes'); END`,
  `CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry
    BEGIN SELECT RAISE(ABORT, 'nothing of the audit trail is ever deleted'); END`,
];

const USAGE_SUMS = [
  // Records whose `block` is at most this or NULL are rolled up, and no others. `at_ms`: the time of the last roll-up.
  // `charges`: as `block`, for the sums of charges.
  `CREATE TABLE usage_through (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    block INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    charges INTEGER NOT NULL DEFAULT -1
  ) STRICT`,
  'INSERT INTO usage_through (one, block, at_ms) VALUES (1, -1, 0)',
  // A number for each account, the zone in which its days are cut, and the first day from which they are complete.
  `CREATE TABLE usage_account (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL UNIQUE,
    time_zone TEXT NOT NULL,
    since_ms INTEGER NOT NULL
  ) STRICT`,
  // Sums of many series in columns, as `rollup/sum-block.ts` packs them. A place (account, kind, step, start_ms) may
  // have several parts, which are added up. Kinds are those of series; steps are quarters of an hour, and days in the
  // account's zone.
  USAGE_BLOCK,
  USAGE_BLOCK_PLACE,
  // `call` has the columns up to `protocol`; `end_user` and `session` have the workspace and their own, `charge` has the
  // workspace, the key with its name, and the model. `same_as`: the first series of the same end user or session in
  // another workspace; NULL: no such series.
  `CREATE TABLE usage_series (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    kind TEXT NOT NULL,
    workspace TEXT NOT NULL,
    key_id TEXT,
    model TEXT,
    provider TEXT,
    protocol TEXT,
    end_user TEXT,
    session TEXT,
    same_as INTEGER,
    key_name TEXT
  ) STRICT`,
  // One index per kind, since every new series pays for the indexes that contain it.
  `CREATE INDEX usage_series_call ON usage_series (account, workspace, key_id, model, provider, protocol)
    WHERE kind = 'call'`,
  "CREATE INDEX usage_series_end_user ON usage_series (account, end_user, workspace) WHERE kind = 'end_user'",
  "CREATE INDEX usage_series_session ON usage_series (account, session, workspace) WHERE kind = 'session'",
  'CREATE INDEX usage_series_same ON usage_series (account, kind, same_as) WHERE same_as IS NOT NULL',
  USAGE_SERIES_CHARGE,
];

/** A new database has the account `default` and the workspace `default`. */
export const BASELINE: Migration = {
  version: 36,
  statements: [
    ...ACCOUNTS_AND_KEYS,
    ...CALLS_AND_LEDGER,
    ...JOURNAL,
    ...IDEMPOTENT_RUNS,
    ...STORED_STATE,
    ...CREATED_OBJECTS,
    ...KEPT_CONVERSATIONS,
    ...PEOPLE_TABLES,
    ...AUDIT_TRAIL,
    ...PROVIDER_TABLES,
    ...USAGE_SUMS,
    ...IMPORTED_OBJECTS,
    ...RECONCILIATIONS,
    ...ALERTS,
    ...RECORD_CHUNKS,
    ...SAVED_VIEWS,
    ...GUARDRAILS,
  ],
};
