/** Owns who a call is made for: the key, its workspace and account, and the rights of both, compiled for quick checks. */
import type { IpRange } from '../lib/ip-range.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { BodyPolicy, HoldMode, Scope } from '../store/ports/records.ts';
import type { KeyUse } from './key-use.ts';
import type { ModelMatcher } from './model-patterns.ts';

/** The caller behind a valid key. Built when a key, its workspace or its account changes, shared by all calls of the key. */
export interface Principal {
  readonly keyId: string;
  readonly keyName: string;
  readonly accountId: string;
  /** Who pays: whether from a balance, with which mark-up, in which time zone. */
  readonly account: StoredAccount;
  readonly workspaceId: string;
  readonly scopes: readonly Scope[];
  /** A call is refused for what a translation would drop, where another key's goes on without it. */
  readonly strict: boolean;
  /** What the key says, else its account; null: neither says anything, and the configuration's default holds. */
  readonly holds: HoldMode | null;
  /** Null: the caller may come from anywhere. */
  readonly ranges: readonly IpRange[] | null;
  /** Of the secret that it came by. */
  readonly use: KeyUse;
  /** The patterns behind `keyAllows` and `workspaceAllows`; null: every model. */
  readonly keyModels: readonly string[] | null;
  readonly workspaceModels: readonly string[] | null;
  readonly keyAllows: ModelMatcher;
  readonly workspaceAllows: ModelMatcher;
  /** Of which calls the workspace keeps what was said; null: as the configuration says. */
  readonly bodies: BodyPolicy | null;
}
