/**
 * Defines the columns of a record by which requests are filtered and grouped by their reason. They are computed from its
 * JSON when they are read; only the index of failed requests stores them, so other requests cost nothing.
 */

/** A damaged reason must not make the record unreadable: `verify` reports it. */
const ofReason = (value: string) => `TEXT GENERATED ALWAYS AS (CASE WHEN json_valid(reason) THEN ${value} END) VIRTUAL`;

const KIND = `reason_kind ${ofReason("json_extract(reason, '$.kind')")}`;
/**
 * A JSON list: the kind, the record's error, the subject's type and id, the rule's cap and window, the provider. Records
 * with the same list have the same cause. NULL: no reason.
 */
const GROUP = `reason_group ${ofReason(
  `json_array(${[
    "json_extract(reason, '$.kind')",
    'error',
    ...['subject.type', 'subject.id', 'rule.cap', 'rule.window', 'target.provider'].map(
      (path) => `json_extract(reason, '$.${path}')`,
    ),
  ].join(', ')})`,
)}`;

export const REASON_COLUMNS: readonly string[] = [KIND, GROUP];

export const REASON_INDEX =
  'CREATE INDEX call_record_reason ON call_record (account, request_id, reason_kind, reason_group) WHERE reason IS NOT NULL';
