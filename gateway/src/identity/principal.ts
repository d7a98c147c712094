/**
 * Defines the principal of a call: the key, its workspace and account, and the permissions of both, compiled for quick
 * checks.
 */
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
  /** The paying account: its billing mode, markup and time zone. */
  readonly account: StoredAccount;
  readonly workspaceId: string;
  readonly scopes: readonly Scope[];
  /** Refuses a call with members that a translation would drop; for other keys the call continues without them. */
  readonly strict: boolean;
  /** The key's setting, else its account's; null: neither has one, and the configuration's default applies. */
  readonly holds: HoldMode | null;
  /** Null: the client may use any address. */
  readonly ranges: readonly IpRange[] | null;
  /** Of the secret that authenticated the call. */
  readonly use: KeyUse;
  /** The patterns behind `keyAllows` and `workspaceAllows`; null: every model. */
  readonly keyModels: readonly string[] | null;
  readonly workspaceModels: readonly string[] | null;
  readonly keyAllows: ModelMatcher;
  readonly workspaceAllows: ModelMatcher;
  /** Which calls' content the workspace stores; null: as configured. */
  readonly bodies: BodyPolicy | null;
}
