/**
 * Owns the interface through which policy is kept: keys, workspaces, accounts and limit rules, changed together or not at
 * all. Knows no database. Money that moves is the ledger's; what a rule leaves at the moment is the limits'.
 */
import type { NewAuditEntry } from './audit.ts';
import type { AccountMode } from './ledger.ts';
import type { Caps, Subject } from './limits.ts';
import type { HoldMode, StoredKey, StoredWorkspace } from './records.ts';

export interface StoredAccount {
  readonly id: string;
  /** What people call it; its id where nobody named it. */
  readonly name: string;
  readonly mode: AccountMode;
  /** What is charged above the price, in parts of a million of it; negative: a discount. */
  readonly markUpPpm: number;
  /** An IANA name: where the windows of its budgets begin and end, save those that `windowZones` names. */
  readonly timeZone: string;
  /** Left out: no window runs in another zone. */
  readonly windowZones?: WindowZones;
  /** Null: as the configuration says. */
  readonly holds: HoldMode | null;
  readonly createdAtMs: number;
}

/** The zone in which windows of a sort go on that were running when the time zone was changed, and until when, unix ms. */
export interface WindowZones {
  readonly day?: KeptZone;
  readonly week?: KeptZone;
  readonly month?: KeptZone;
}

interface KeptZone {
  readonly zone: string;
  readonly untilMs: number;
}

/** The caps of one subject in the subject's layer; at least one of them is a cap. */
export interface LimitRule {
  readonly subject: Subject;
  readonly caps: Caps;
}

/** One change of policy. What is new must not be there yet; what is not new must be. */
export type PolicyChange =
  | { readonly of: 'key'; readonly isNew: boolean; readonly key: StoredKey }
  | { readonly of: 'workspace'; readonly isNew: boolean; readonly workspace: StoredWorkspace }
  | { readonly of: 'account'; readonly isNew: boolean; readonly account: StoredAccount }
  /** Makes or replaces a rule; null takes away one that is there. */
  | { readonly of: 'rule'; readonly subject: Subject; readonly caps: Caps | null };

/** What policy there is, each list in the order in which it was made, rules by subject. */
export interface PolicyReader {
  readKeys(): Promise<readonly StoredKey[]>;
  readWorkspaces(): Promise<readonly StoredWorkspace[]>;
  readAccounts(): Promise<readonly StoredAccount[]>;
  readLimitRules(): Promise<readonly LimitRule[]>;
}

export interface PolicyBook extends PolicyReader {
  /**
   * Keeps all of the changes, and the entries that tell of them, or none; resolves once they are durable. Rejects where an id or a hash is taken, or where
   * what is to be changed is not there. An id, a time of creation and a maker never change.
   */
  keep(changes: readonly PolicyChange[], entries?: readonly NewAuditEntry[]): Promise<void>;
}
