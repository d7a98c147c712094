/**
 * Owns the keys, workspaces and accounts held in memory, by which every call is answered for. Loaded at start and changed by
 * commands after the store has them; reads no store itself, and holds no secret, only keyed hashes.
 */
import { parseIpRange } from '../lib/ip-range.ts';
import type { Secret } from '../lib/secret.ts';
import type { PolicyReader, StoredAccount } from '../store/ports/policy.ts';
import type { KeyStatus, Scope, StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import { createKeyHasher, type KeyHasher } from './key-format.ts';
import { type KeyUse, newKeyUse } from './key-use.ts';
import { compileModelPatterns } from './model-patterns.ts';
import type { Principal } from './principal.ts';

/** What the keys that somebody made may be used for in a workspace: nothing, once he may not be there himself. */
export type MakerRights = (accountId: string, workspaceId: string) => readonly Scope[];

/** What a hash leads to. A rotated key has two entries until the old secret's is put out by the next rotation. */
export interface KeyEntry {
  readonly principal: Principal;
  /** `ownerless`: who made it may not make keys there any more. */
  readonly status: KeyStatus | 'ownerless';
  /** The secret's, and its principal's. */
  readonly use: KeyUse;
  /** Unix ms from which on the secret no longer works; infinite where it always does. */
  readonly endsAtMs: number;
}

/** Change it only through `putKey`, `putWorkspace`, `putAccount` and `putMaker`. */
export interface KeyDirectory {
  readonly hashKey: KeyHasher;
  readonly byHash: Map<string, KeyEntry>;
  readonly keys: Map<string, StoredKey>;
  readonly workspaces: Map<string, StoredWorkspace>;
  readonly accounts: Map<string, StoredAccount>;
  /** By person. */
  readonly makers: Map<string, MakerRights>;
}

/** What a directory begins with. */
export interface DirectoryContent {
  readonly accounts: readonly StoredAccount[];
  readonly workspaces: readonly StoredWorkspace[];
  readonly keys: readonly StoredKey[];
  /** By person; who is not there has no rights. */
  readonly makers?: ReadonlyMap<string, MakerRights>;
}

/**
 * A directory of what the store holds.
 *
 * @throws Error when a key names a workspace or account that is not there: rights that cannot be known are not guessed.
 */
export function createKeyDirectory(hashKey: KeyHasher, content: DirectoryContent): KeyDirectory {
  const directory: KeyDirectory = {
    hashKey,
    byHash: new Map(),
    keys: new Map(),
    workspaces: new Map(content.workspaces.map((workspace) => [workspace.id, workspace])),
    accounts: new Map(content.accounts.map((account) => [account.id, account])),
    makers: new Map(content.makers),
  };
  for (const key of content.keys) putKey(directory, key);
  return directory;
}

/** Adds a key or takes over its changed members; it binds the next call. */
export function putKey(directory: KeyDirectory, key: StoredKey): void {
  const use = useOf(directory, key.hash);
  const principal = compilePrincipal(directory, key, use);
  const previousUse = key.previousHash === null ? null : useOf(directory, key.previousHash);
  const before = directory.keys.get(key.id);
  for (const hash of [before?.hash, before?.previousHash]) if (hash) directory.byHash.delete(hash);
  const endsAtMs = key.expiresAtMs ?? Number.POSITIVE_INFINITY;
  directory.keys.set(key.id, key);
  const status = key.status === 'active' && principal.scopes.length === 0 ? 'ownerless' : key.status;
  directory.byHash.set(key.hash, { principal, use, status, endsAtMs });
  if (key.previousHash !== null && previousUse !== null) {
    const graceEndsAtMs = Math.min(endsAtMs, key.previousExpiresAtMs ?? Number.NEGATIVE_INFINITY);
    directory.byHash.set(key.previousHash, {
      principal: { ...principal, use: previousUse },
      use: previousUse,
      status,
      endsAtMs: graceEndsAtMs,
    });
  }
}

/** Adds a workspace or takes over its changed members, for all of its keys at once. */
export function putWorkspace(directory: KeyDirectory, workspace: StoredWorkspace): void {
  directory.workspaces.set(workspace.id, workspace);
  for (const key of directory.keys.values()) if (key.workspaceId === workspace.id) putKey(directory, key);
}

/** Adds an account or takes over its changed members, for all of its keys at once. */
export function putAccount(directory: KeyDirectory, account: StoredAccount): void {
  directory.accounts.set(account.id, account);
  for (const key of directory.keys.values()) if (key.accountId === account.id) putKey(directory, key);
}

/** Takes over what a person may do, for all of the keys that he made at once. */
export function putMaker(directory: KeyDirectory, person: string, rights: MakerRights): void {
  directory.makers.set(person, rights);
  for (const key of directory.keys.values()) if (key.createdBy === person) putKey(directory, key);
}

/** What a key may be used for: what it was made for, as far as its maker may do that himself. */
function scopesOf(
  { makers }: KeyDirectory,
  { scopes, createdBy, accountId, workspaceId }: StoredKey,
): readonly Scope[] {
  if (createdBy === null) return scopes;
  const allowed = makers.get(createdBy)?.(accountId, workspaceId) ?? [];
  return scopes.filter((scope) => allowed.includes(scope));
}

/** A secret's use goes with it, whatever else of its key changes. */
function useOf({ byHash }: KeyDirectory, hash: string): KeyUse {
  return byHash.get(hash)?.use ?? newKeyUse();
}

function compilePrincipal(directory: KeyDirectory, key: StoredKey, use: KeyUse): Principal {
  const workspace = directory.workspaces.get(key.workspaceId);
  if (workspace === undefined)
    throw new Error(`key ${key.id} names the workspace ${key.workspaceId}, which is not there`);
  const account = directory.accounts.get(key.accountId);
  if (account === undefined) throw new Error(`key ${key.id} names the account ${key.accountId}, which is not there`);
  return {
    keyId: key.id,
    keyName: key.name,
    accountId: key.accountId,
    account,
    workspaceId: key.workspaceId,
    scopes: scopesOf(directory, key),
    strict: key.strict,
    holds: key.holds ?? account.holds,
    ranges: key.ips === null ? null : key.ips.map(parseIpRange),
    use,
    keyModels: key.models,
    workspaceModels: workspace.models,
    keyAllows: compileModelPatterns(key.models),
    workspaceAllows: compileModelPatterns(workspace.models),
    bodies: workspace.bodies,
  };
}

/**
 * The directory of all keys, workspaces and accounts of a store. `masterKey`: 64 hex characters, the one that they were made
 * under. `makers`: what people may do; nothing where no call is answered by the directory.
 */
export async function loadKeyDirectory(
  policies: Pick<PolicyReader, 'readKeys' | 'readWorkspaces' | 'readAccounts'>,
  masterKey: Secret,
  makers: ReadonlyMap<string, MakerRights> = new Map(),
): Promise<KeyDirectory> {
  const [accounts, workspaces, keys] = await Promise.all([
    policies.readAccounts(),
    policies.readWorkspaces(),
    policies.readKeys(),
  ]);
  return createKeyDirectory(createKeyHasher(masterKey), { accounts, workspaces, keys, makers });
}
