/**
 * Defines the store for policy: keys, workspaces, accounts and limit rules, changed together or not at all. Balances
 * belong to the ledger, current use of limits to the limit store.
 */
import type { NewAuditEntry } from './audit.ts';
import type { ImportedObject, ImportReader } from './books/imports.ts';
import type { AccountMode } from './ledger.ts';
import type { Caps, Subject } from './limits.ts';
import type { HoldMode, StoredKey, StoredWorkspace } from './records.ts';

export interface StoredAccount {
  readonly id: string;
  /** Display name; defaults to the id. */
  readonly name: string;
  readonly mode: AccountMode;
  /** Markup on the price in parts per million; negative: a discount. */
  readonly markUpPpm: number;
  /** IANA time zone of the account's budget windows, except those listed in `windowZones`. */
  readonly timeZone: string;
  /** Omitted: no window runs in another zone. */
  readonly windowZones?: WindowZones;
  /** Null: as the configuration says. */
  readonly holds: HoldMode | null;
  readonly createdAtMs: number;
}

/** After a change of time zone, running windows stay in their old zone until they end, `untilMs` (unix ms). */
export interface WindowZones {
  readonly day?: KeptZone;
  readonly week?: KeptZone;
  readonly month?: KeptZone;
}

interface KeptZone {
  readonly zone: string;
  readonly untilMs: number;
}

/** The caps of one subject in its layer; at least one is not null. */
export interface LimitRule {
  readonly subject: Subject;
  readonly caps: Caps;
}

/** One policy change. A new item must not exist yet; a changed item must exist. */
export type PolicyChange =
  | { readonly of: 'key'; readonly isNew: boolean; readonly key: StoredKey }
  | { readonly of: 'workspace'; readonly isNew: boolean; readonly workspace: StoredWorkspace }
  | { readonly of: 'account'; readonly isNew: boolean; readonly account: StoredAccount }
  /** Creates or replaces a rule; null deletes an existing one. */
  | { readonly of: 'rule'; readonly subject: Subject; readonly caps: Caps | null }
  /** Creates or replaces what is kept of an imported object. */
  | { readonly of: 'import'; readonly imported: ImportedObject };

/** Reads policy: each list in order of creation, rules by subject. */
export interface PolicyReader extends ImportReader {
  readKeys(): Promise<readonly StoredKey[]>;
  readWorkspaces(): Promise<readonly StoredWorkspace[]>;
  readAccounts(): Promise<readonly StoredAccount[]>;
  readLimitRules(): Promise<readonly LimitRule[]>;
}

export interface PolicyStore extends PolicyReader {
  /**
   * Applies all changes and their audit entries, or none; resolves once durable. Rejects where an id or hash is taken,
   * or an item to change does not exist. Ids, creation times and creators never change.
   */
  save(changes: readonly PolicyChange[], entries?: readonly NewAuditEntry[]): Promise<void>;
}
