/** Creates the tables of what providers keep for workspaces, and of conversations that are kept here. */

/**
 * No foreign keys: a row is written by the journal, whatever happened to its workspace since. Columns as in the port
 * `StoredStateStore`.
 */
export const STORED_STATE = [
  `CREATE TABLE stored_state (
    account TEXT NOT NULL,
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    credential TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (account, workspace, id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX stored_state_age ON stored_state (expires_at_ms)',
  'CREATE INDEX stored_state_request ON stored_state (request_id)',
];

/** What clients created, for their lists. */
export const CREATED_OBJECTS = [
  'ALTER TABLE stored_state ADD COLUMN object TEXT',
  `CREATE INDEX stored_state_object ON stored_state (account, workspace, kind, request_id)
    WHERE object IS NOT NULL`,
];

/** Sealed conversations of responses that this gateway translated. */
export const KEPT_CONVERSATIONS = [
  `CREATE TABLE kept_conversation (
    request_id TEXT PRIMARY KEY NOT NULL,
    account TEXT NOT NULL,
    workspace TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT`,
  'CREATE INDEX kept_conversation_account ON kept_conversation (account, bytes)',
  'CREATE INDEX kept_conversation_age ON kept_conversation (expires_at_ms)',
];
