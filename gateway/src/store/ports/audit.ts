/**
 * Owns the interface of the audit trail and the shapes it keeps: who changed what, append-only. An entry is written in the
 * transaction of its change. Knows no database, and never holds a secret or a hash.
 */
/** `nobody`: who it was is not known, such as at a sign-in that failed. */
export const AUDIT_ACTOR_KINDS = ['person', 'key', 'command_line', 'nobody'] as const;

/** Who made a change, by the name he had then. */
export interface AuditActor {
  readonly kind: (typeof AUDIT_ACTOR_KINDS)[number];
  readonly id: string;
  readonly name: string;
}

/** Who made a change, and from where. */
export interface ChangedBy {
  readonly actor: AuditActor;
  /** The caller's address; null: there is none (the command line), or it is not known. */
  readonly address: string | null;
}

/** Whoever has the data folder: the command line, and the first start. */
export const BY_COMMAND_LINE: ChangedBy = {
  actor: { kind: 'command_line', id: 'command_line', name: 'command line' },
  address: null,
};

/** What JSON carries of the members that changed. */
export type AuditedMembers = Readonly<Record<string, unknown>>;

export interface NewAuditEntry {
  readonly atMs: number;
  /** Whose trail it is in; of what is the installation's: `default`. */
  readonly account: string;
  /** The workspace that it concerns; null: the account as a whole. */
  readonly workspace: string | null;
  readonly by: ChangedBy;
  /** Such as `keys.create`. */
  readonly act: string;
  readonly subject: { readonly kind: string; readonly id: string };
  /** The members that changed, as they were and as they are; null: there was nothing, or there is nothing any more. */
  readonly before: AuditedMembers | null;
  readonly after: AuditedMembers | null;
}

export interface AuditEntry extends NewAuditEntry {
  /** Ascending in the order in which they were kept. */
  readonly seq: number;
}

export interface AuditFilter {
  readonly account: string;
  /** Only entries that concern these; null: all of the account. */
  readonly workspaces: readonly string[] | null;
  /** Entries before this one; null: from the newest on. */
  readonly beforeSeq: number | null;
  /** The actor's id, the act or the subject's id; null: any. */
  readonly actor: string | null;
  readonly act: string | null;
  readonly subject: string | null;
  /** Unix ms, from inclusive, to exclusive; null: no bound. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly limit: number;
}

export interface AuditTrail {
  /** For what changes nothing that is kept elsewhere, such as a sign-in. Resolves once all are durable. */
  append(entries: readonly NewAuditEntry[]): Promise<void>;
  /** The entries that pass, the newest first. */
  read(filter: AuditFilter): Promise<readonly AuditEntry[]>;
}
