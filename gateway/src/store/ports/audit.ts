/**
 * Defines the append-only audit trail: which actor changed what, written in the transaction of the change. Entries
 * never contain a secret or a hash.
 */
import type { AuditField } from '../../lib/query/audit-query.ts';
import type { QueryTerm } from '../../lib/query/call-query.ts';

/** `anonymous`: the actor is unknown, such as at a failed sign-in. */
export const AUDIT_ACTOR_KINDS = ['person', 'key', 'command_line', 'anonymous'] as const;

/** The actor of a change, with the name it had at that time. */
export interface AuditActor {
  readonly kind: (typeof AUDIT_ACTOR_KINDS)[number];
  readonly id: string;
  readonly name: string;
}

/** The actor of a change and the address it came from. */
export interface ChangedBy {
  readonly actor: AuditActor;
  /** The client's address; null: none (the command line), or unknown. */
  readonly address: string | null;
}

/** The actor for changes made with access to the data folder: the command line and the first start. */
export const BY_COMMAND_LINE: ChangedBy = {
  actor: { kind: 'command_line', id: 'command_line', name: 'command line' },
  address: null,
};

/** The changed members, as JSON values. */
export type AuditedMembers = Readonly<Record<string, unknown>>;

export interface NewAuditEntry {
  readonly atMs: number;
  /** The account whose trail contains the entry; `default` for changes to the installation. */
  readonly account: string;
  /** The workspace affected; null: the account as a whole. */
  readonly workspace: string | null;
  readonly by: ChangedBy;
  /** Such as `keys.create`. */
  readonly act: string;
  readonly subject: { readonly kind: string; readonly id: string };
  /** The changed members, before and after; null: the subject did not exist before, or no longer exists. */
  readonly before: AuditedMembers | null;
  readonly after: AuditedMembers | null;
}

export interface AuditEntry extends NewAuditEntry {
  /** Ascends in the order of insertion. */
  readonly seq: number;
}

export interface AuditFilter {
  readonly account: string;
  /** Only entries about these workspaces; null: all of the account. */
  readonly workspaces: readonly string[] | null;
  /** Only entries before this one; null: start at the newest. */
  readonly beforeSeq: number | null;
  /** The actor's id, the act and the subject's id; null: any. */
  readonly actor: string | null;
  readonly act: string | null;
  readonly subject: string | null;
  /** Unix ms, from inclusive, to exclusive; null: no bound. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Terms that an entry must meet in addition; ranges of `date` are in Unix ms. Omitted: none. */
  readonly terms?: readonly QueryTerm<AuditField>[];
  readonly limit: number;
}

export interface AuditTrail {
  /** For events that change nothing else in the store, such as a sign-in. Resolves once all entries are durable. */
  append(entries: readonly NewAuditEntry[]): Promise<void>;
  /** The matching entries, newest first. */
  read(filter: AuditFilter): Promise<readonly AuditEntry[]>;
  /** The different values of a field in an account's entries, at most 1,000; of actors, ids and names. */
  readValues(
    field: Exclude<AuditField, 'date'>,
    filter: Pick<AuditFilter, 'account' | 'workspaces'>,
  ): Promise<readonly string[]>;
}
