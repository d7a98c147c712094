/** Maps entries of the audit trail to table rows and back, and defines their insert statement. */
import type { AuditActor, AuditEntry, AuditedMembers, NewAuditEntry } from '../../ports/audit.ts';

export interface AuditRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly account: string;
  readonly workspace: string | null;
  readonly actor_kind: AuditActor['kind'];
  readonly actor_id: string;
  readonly actor_name: string;
  readonly address: string | null;
  readonly act: string;
  readonly subject_kind: string;
  readonly subject_id: string;
  /** JSON. */
  readonly before: string | null;
  readonly after: string | null;
}

const COLUMNS = [
  'at_ms',
  'account',
  'workspace',
  'actor_kind',
  'actor_id',
  'actor_name',
  'address',
  'act',
  'subject_kind',
  'subject_id',
  'before',
  'after',
] as const satisfies readonly (keyof AuditRow)[];

export const INSERT_AUDIT_ENTRY = `INSERT INTO audit_entry (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`;

/** All entries, as their values in the order of the insert statement, the oldest first. */
export const SELECT_AUDIT_VALUES = `SELECT ${COLUMNS.join(', ')} FROM audit_entry ORDER BY seq`;

/** An entry's values in the order of the insert statement. */
export type AuditValues = readonly (string | number | null)[];

export function auditValues(entry: NewAuditEntry): AuditValues {
  const { actor, address } = entry.by;
  return [
    entry.atMs,
    entry.account,
    entry.workspace,
    actor.kind,
    actor.id,
    actor.name,
    address,
    entry.act,
    entry.subject.kind,
    entry.subject.id,
    renderMembers(entry.before),
    renderMembers(entry.after),
  ];
}

/** The entry that a row holds. */
export function entryOfRow(row: AuditRow): AuditEntry {
  return {
    seq: row.seq,
    atMs: row.at_ms,
    account: row.account,
    workspace: row.workspace,
    by: { actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name }, address: row.address },
    act: row.act,
    subject: { kind: row.subject_kind, id: row.subject_id },
    before: parseMembers(row.before),
    after: parseMembers(row.after),
  };
}

function renderMembers(members: AuditedMembers | null): string | null {
  return members === null ? null : JSON.stringify(members);
}

function parseMembers(text: string | null): AuditedMembers | null {
  return text === null ? null : (JSON.parse(text) as AuditedMembers);
}
