/**
 * Upgrades older databases to the current schema. The first step starts from the oldest version that this program
 * accepts; databases before it are upgraded by an older Tollgate first.
 */
import type { Migration } from './baseline.ts';
import { ALERTS_FROM_34, ALERTS_OF_34, IMPORTED_OBJECTS, RECONCILIATIONS } from './books-tables.ts';
import { CHARGES_FROM_35 } from './charge-sums.ts';
import { GUARDRAILS } from './guardrail-tables.ts';
import { TABLES_OF_26 } from './provider-tables.ts';
import { REASON_COLUMNS, REASON_INDEX } from './reason-columns.ts';
import { RECORD_CHUNKS } from './record-chunks.ts';
import { SAVED_VIEWS } from './saved-view-tables.ts';
import { CREATED_OBJECTS, KEPT_CONVERSATIONS, STORED_STATE } from './stored-tables.ts';

/** The last commit that upgrades databases of schema versions 1 to 19, which this program refuses. */
export const LAST_COMMIT_FOR_OLDER = '8f0bc56';

/**
 * The account whose invitation created the user: the first one they joined, else the one of the last invitation they
 * accepted.
 */
const HOME = `coalesce(
  (SELECT membership.account FROM membership WHERE membership.person = person.id ORDER BY joined_at_ms, 1 LIMIT 1),
  (SELECT invitation.account FROM invitation WHERE invitation.email = person.email AND accepted_at_ms IS NOT NULL
    ORDER BY accepted_at_ms DESC LIMIT 1))`;

/** Memberships that an unverified address does not allow. */
const BEYOND = `membership JOIN person ON person.id = membership.person
  WHERE email_verified = 0 AND membership.account IS NOT person.account`;

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

/** Each step runs in one transaction. Shipped steps never change. */
export const UPGRADES: readonly Migration[] = [
  // Addresses are verified or not; an unverified one is valid in one account.
  {
    version: 21,
    statements: [
      // The table is not recreated, since others refer to it: the unique column gets another name and meaning.
      'ALTER TABLE person RENAME COLUMN email TO unique_email',
      "ALTER TABLE person ADD COLUMN email TEXT NOT NULL DEFAULT ''",
      // Verified: the first person, who used the set-up link, and everyone that another service has vouched for.
      `UPDATE person SET email = unique_email, email_verified =
        (id = (SELECT first.id FROM person AS first ORDER BY first.created_at_ms, first.rowid LIMIT 1))
        OR EXISTS (SELECT 1 FROM sign_in_method WHERE sign_in_method.person = person.id AND provider <> 'credential')`,
      "UPDATE person SET unique_email = email || ' ' || id WHERE email_verified = 0",
      // The account of an unverified user. Neither addresses nor account names contain a space.
      `ALTER TABLE person ADD COLUMN account TEXT REFERENCES account (id) CHECK (unique_email = CASE email_verified
        WHEN 1 THEN email ELSE email || ' ' || coalesce(account, id) END)`,
      `UPDATE person SET account = ${HOME}, unique_email = email || ' ' || coalesce(${HOME}, id) WHERE email_verified = 0`,
      'CREATE INDEX person_email ON person (email)',
      // Restored when the address is verified.
      `CREATE TABLE suspended_membership (
        person TEXT NOT NULL REFERENCES person (id),
        account TEXT NOT NULL REFERENCES account (id),
        role TEXT NOT NULL,
        workspaces TEXT,
        joined_at_ms INTEGER NOT NULL,
        PRIMARY KEY (person, account)
      ) STRICT, WITHOUT ROWID`,
      `INSERT INTO suspended_membership
        SELECT membership.person, membership.account, role, workspaces, joined_at_ms FROM ${BEYOND}`,
      `INSERT INTO audit_entry
          (at_ms, account, workspace, actor_kind, actor_id, actor_name, address, act, subject_kind, subject_id, before, after)
        SELECT $now, account, NULL, 'command_line', 'command_line', 'command line', NULL, 'member.suspend', 'person', person,
          json_object('role', role), NULL FROM suspended_membership`,
      `DELETE FROM membership WHERE EXISTS (SELECT 1 FROM suspended_membership AS kept
        WHERE kept.person = membership.person AND kept.account = membership.account)`,
      `CREATE TRIGGER membership_of_verified BEFORE INSERT ON membership
        WHEN EXISTS (SELECT 1 FROM person WHERE id = NEW.person AND email_verified = 0 AND account IS NOT NEW.account)
        BEGIN SELECT RAISE(ABORT, 'an unverified user joins no second account'); END`,
    ],
  },
  // Limit rules get two layers, the operator's and the account's own; accounts get the zones of budget windows that
  // were running when a time zone changed.
  {
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
  },
  // Records get the reason of a failed call.
  {
    version: 23,
    // Hashed with the record where present: records without a reason keep their hashes.
    statements: ['ALTER TABLE call_record ADD COLUMN reason TEXT'],
  },
  // The unknown actor of an audit entry is named `anonymous`, and the table that leads from calls to their ledger
  // entries by what it holds.
  {
    version: 24,
    statements: [
      // SQLite changes no CHECK in place. The old table goes with its index and triggers.
      'ALTER TABLE audit_entry RENAME TO old_audit_entry',
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
      `INSERT INTO audit_entry
        SELECT seq, at_ms, account, workspace, CASE actor_kind WHEN 'nobody' THEN 'anonymous' ELSE actor_kind END,
          actor_id, actor_name, address, act, subject_kind, subject_id, before, after
        FROM old_audit_entry`,
      'DROP TABLE old_audit_entry',
      'CREATE INDEX audit_entry_account ON audit_entry (account, seq)',
      `CREATE TRIGGER audit_entry_keeps BEFORE UPDATE ON audit_entry
        BEGIN SELECT RAISE(ABORT, 'the audit trail never changes'); END`,
      `CREATE TRIGGER audit_entry_stays BEFORE DELETE ON audit_entry
        BEGIN SELECT RAISE(ABORT, 'nothing of the audit trail is ever deleted'); END`,
      'ALTER TABLE ledger_stretch RENAME TO entry_range',
    ],
  },
  // The journal and its read model. Usage is rolled up by the blocks of the journal instead of the ids of records.
  {
    version: 25,
    statements: [
      ...['held', 'posted', 'written_off', 'ended_ms', 'block'].map(
        (column) => `ALTER TABLE call_record ADD COLUMN ${column} INTEGER`,
      ),
      'DROP TRIGGER call_record_keeps',
      'UPDATE call_record SET block = 0 WHERE request_id > (SELECT request_id FROM usage_through)',
      'UPDATE call_record SET block = 0 WHERE request_id IN (SELECT request_id FROM usage_late)',
      `CREATE TRIGGER call_record_keeps BEFORE UPDATE ON call_record
        BEGIN SELECT RAISE(ABORT, 'a call record never changes'); END`,
      'CREATE INDEX call_record_block ON call_record (block) WHERE block IS NOT NULL',
      'CREATE INDEX call_record_long ON call_record (account, ended_ms) WHERE abs(ended_ms - at_ms) > 3600000',
      'DROP TABLE usage_late',
      'DROP TABLE usage_through',
      'CREATE TABLE usage_through (one INTEGER PRIMARY KEY CHECK (one = 1), block INTEGER NOT NULL, at_ms INTEGER NOT NULL) STRICT',
      'INSERT INTO usage_through (one, block, at_ms) VALUES (1, -1, 0)',
      `CREATE TABLE stream (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        id BLOB NOT NULL CHECK (length(id) = 16),
        epoch INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        head BLOB NOT NULL CHECK (length(head) = 32)
      ) STRICT`,
      `CREATE TABLE block (
        seq INTEGER PRIMARY KEY,
        epoch INTEGER NOT NULL,
        frames INTEGER NOT NULL,
        prev BLOB NOT NULL,
        hash BLOB NOT NULL,
        bytes BLOB NOT NULL
      ) STRICT`,
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
    ],
  },
  // Credentials of providers get a table of their own, where a provider may have several; routes are entered in the
  // console; targets and credentials are taken out of rotation; keys and workspaces require data tags.
  {
    version: 26,
    statements: [
      ...TABLES_OF_26,
      `INSERT INTO provider_credential
        SELECT name, 'default', sealed, coalesce(last4, ''), 1, NULL, NULL, created_at_ms, updated_at_ms
        FROM provider_entry WHERE sealed IS NOT NULL`,
      'ALTER TABLE provider_entry DROP COLUMN sealed',
      'ALTER TABLE provider_entry DROP COLUMN last4',
      'ALTER TABLE workspace ADD COLUMN required_tags TEXT',
      'ALTER TABLE api_key ADD COLUMN required_tags TEXT',
    ],
  },
  // Attempts that did not answer their call cost the operator, apart from what else is written off.
  {
    version: 27,
    statements: ['ALTER TABLE account_balance ADD COLUMN absorbed_attempts INTEGER NOT NULL DEFAULT 0'],
  },
  // Providers entered in the console have the settings of their kinds: a region, a project.
  {
    version: 28,
    statements: [`ALTER TABLE provider_entry ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'`],
  },
  // Records keep the trace that their call is part of.
  {
    version: 29,
    statements: [
      'ALTER TABLE call_record ADD COLUMN trace_id TEXT',
      'CREATE INDEX call_record_trace ON call_record (trace_id) WHERE trace_id IS NOT NULL',
    ],
  },
  // What providers keep under the operator's account is tied to workspaces.
  { version: 30, statements: STORED_STATE },
  // Responses that were translated may be kept.
  { version: 31, statements: KEPT_CONVERSATIONS },
  // Calls may be detached from their process.
  { version: 32, statements: ['ALTER TABLE open_hold ADD COLUMN job TEXT'] },
  // Clients create files and list them.
  { version: 33, statements: CREATED_OBJECTS },
  {
    version: 34,
    statements: [
      // Objects are imported from other gateways, and exports of providers are compared with the records.
      ...IMPORTED_OBJECTS,
      ...RECONCILIATIONS,
      // Rules of alerts, and the deliveries owed to their receivers.
      ...ALERTS_OF_34,
      // Failed requests are filtered and grouped by their reason.
      ...REASON_COLUMNS.map((column) => `ALTER TABLE call_record ADD COLUMN ${column}`),
      REASON_INDEX,
    ],
  },
  {
    version: 35,
    statements: [
      // Alerts have quiet hours, repetition and an inbox.
      ...ALERTS_FROM_34,
      // Workspaces cache answers; a record names the request whose answer it got.
      'ALTER TABLE workspace ADD COLUMN cache TEXT',
      'ALTER TABLE call_record ADD COLUMN cached_from TEXT',
      // How often guardrails masked something, as JSON.
      'ALTER TABLE call_record ADD COLUMN masked TEXT',
      ...SAVED_VIEWS,
      // Keys have tags, users a time zone.
      'ALTER TABLE api_key ADD COLUMN tags TEXT',
      'ALTER TABLE person ADD COLUMN time_zone TEXT',
      ...GUARDRAILS,
      // Columns of records are kept in chunks, for queries. Records of the journal follow by their blocks.
      ...RECORD_CHUNKS,
      'INSERT INTO record_waiting (account, request_id) SELECT account, request_id FROM call_record WHERE block IS NULL',
    ],
  },
  // What calls charged is rolled up by their end.
  { version: 36, statements: CHARGES_FROM_35 },
];
