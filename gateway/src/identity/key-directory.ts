/**
 * Holds the keys, workspaces and accounts in memory that every call is checked against. Loaded at start; follows the
 * change feed. Of secrets it contains keyed hashes, and the texts of keys that callers sent since the last change.
 */
import { parseIpRange } from '../lib/ip-range.ts';
import type { Secret } from '../lib/secret.ts';
import type { ChangeFollower } from '../store/ports/change-feed.ts';
import type { PolicyReader, StoredAccount } from '../store/ports/policy.ts';
import type { Scope, StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import { createKeyHasher, isImportedHash, type KeyHasher } from './key-format.ts';
import {
  compileModelPatterns,
  type KeyEntry,
  type KeyLookup,
  type KeyUse,
  newKeyUse,
  type Principal,
} from './principal.ts';

/** The scopes that a user's keys may have in a workspace: none once the user has lost access to it. */
export type MakerRights = (accountId: string, workspaceId: string) => readonly Scope[];

/** Reads the rights of a user, or of all users (null). A user without rights is not in the map. */
export type ReadMakers = (person: string | null) => Promise<ReadonlyMap<string, MakerRights>>;

/** Change it only through `putKey`, `putWorkspace`, `putAccount` and `putMaker`. */
export interface KeyDirectory extends KeyLookup {
  readonly byHash: Map<string, KeyEntry>;
  readonly imported: Set<string>;
  readonly keys: Map<string, StoredKey>;
  readonly workspaces: Map<string, StoredWorkspace>;
  readonly accounts: Map<string, StoredAccount>;
  /** By user. */
  readonly makers: Map<string, MakerRights>;
}

/** The initial content of a directory. */
export interface DirectoryContent {
  readonly accounts: readonly StoredAccount[];
  readonly workspaces: readonly StoredWorkspace[];
  readonly keys: readonly StoredKey[];
  /** By user; a user not in the map has no permissions. */
  readonly makers?: ReadonlyMap<string, MakerRights>;
}

/**
 * Creates a directory from the store's content.
 *
 * @throws Error if a key names a workspace or account that does not exist: unknown permissions are not guessed.
 */
export function createKeyDirectory(hashKey: KeyHasher, content: DirectoryContent): KeyDirectory {
  const directory: KeyDirectory = {
    hashKey,
    byHash: new Map(),
    found: new Map(),
    imported: new Set(),
    keys: new Map(),
    workspaces: new Map(content.workspaces.map((workspace) => [workspace.id, workspace])),
    accounts: new Map(content.accounts.map((account) => [account.id, account])),
    makers: new Map(content.makers),
  };
  for (const key of content.keys) putKey(directory, key);
  return directory;
}

/** Adds or updates a key; applies from the next call. */
export function putKey(directory: KeyDirectory, key: StoredKey): void {
  const use = useOf(directory, key.hash);
  const principal = compilePrincipal(directory, key, use);
  const previousUse = key.previousHash === null ? null : useOf(directory, key.previousHash);
  const before = directory.keys.get(key.id);
  for (const hash of [before?.hash, before?.previousHash]) {
    if (!hash) continue;
    directory.byHash.delete(hash);
    directory.imported.delete(hash);
  }
  for (const hash of [key.hash, key.previousHash]) if (hash && isImportedHash(hash)) directory.imported.add(hash);
  directory.found.clear();
  const endsAtMs = key.expiresAtMs ?? Number.POSITIVE_INFINITY;
  directory.keys.set(key.id, key);
  const status = key.status === 'active' && principal.scopes.length === 0 ? 'ownerless' : key.status;
  directory.byHash.set(key.hash, { principal, use, status, endsAtMs, keyEndsAtMs: endsAtMs });
  if (key.previousHash !== null && previousUse !== null) {
    const graceEndsAtMs = Math.min(endsAtMs, key.previousExpiresAtMs ?? Number.NEGATIVE_INFINITY);
    directory.byHash.set(key.previousHash, {
      principal: { ...principal, use: previousUse },
      use: previousUse,
      status,
      endsAtMs: graceEndsAtMs,
      keyEndsAtMs: endsAtMs,
    });
  }
}

/** Adds or updates a workspace, for all of its keys at once. */
export function putWorkspace(directory: KeyDirectory, workspace: StoredWorkspace): void {
  directory.workspaces.set(workspace.id, workspace);
  for (const key of directory.keys.values()) if (key.workspaceId === workspace.id) putKey(directory, key);
}

/** Adds or updates an account, for all of its keys at once. */
export function putAccount(directory: KeyDirectory, account: StoredAccount): void {
  directory.accounts.set(account.id, account);
  for (const key of directory.keys.values()) if (key.accountId === account.id) putKey(directory, key);
}

/** Updates a user's permissions, for all of their keys at once. */
export function putMaker(directory: KeyDirectory, person: string, rights: MakerRights): void {
  directory.makers.set(person, rights);
  for (const key of directory.keys.values()) if (key.createdBy === person) putKey(directory, key);
}

/** A key's scopes, limited to those its creator has. */
function scopesOf(
  { makers }: KeyDirectory,
  { scopes, createdBy, accountId, workspaceId }: StoredKey,
): readonly Scope[] {
  if (createdBy === null) return scopes;
  const allowed = makers.get(createdBy)?.(accountId, workspaceId) ?? [];
  return scopes.filter((scope) => allowed.includes(scope));
}

/** A secret keeps its usage record when its key changes. */
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
    requiredTags: [...new Set([...(workspace.requiredTags ?? []), ...(key.requiredTags ?? [])])],
    bodies: workspace.bodies,
    cache: workspace.cache === undefined ? null : { ...workspace.cache, bodiesDays: workspace.bodiesDays },
  };
}

type DirectoryReader = Pick<PolicyReader, 'readKeys' | 'readWorkspaces' | 'readAccounts'>;

/** The rights of users are not known, and no call is answered by the directory. */
const NO_MAKERS: ReadMakers = async () => new Map();

/**
 * Loads the directory of all keys, workspaces and accounts of a store. `masterKey`: 64 hex characters, the one they
 * were created under. `readMakers`: omit it if no call is answered by the directory.
 */
export async function loadKeyDirectory(
  policies: DirectoryReader,
  masterKey: Secret,
  readMakers: ReadMakers = NO_MAKERS,
): Promise<KeyDirectory> {
  return createKeyDirectory(createKeyHasher(masterKey), await readContent(policies, readMakers));
}

async function readContent(policies: DirectoryReader, readMakers: ReadMakers): Promise<DirectoryContent> {
  const [accounts, workspaces, keys, makers] = await Promise.all([
    policies.readAccounts(),
    policies.readWorkspaces(),
    policies.readKeys(),
    readMakers(null),
  ]);
  return { accounts, workspaces, keys, makers };
}

/** Keeps a loaded directory in step with the store. */
export function followKeys(
  directory: KeyDirectory,
  policies: DirectoryReader,
  readMakers: ReadMakers = NO_MAKERS,
): ChangeFollower {
  return {
    async follow(changes) {
      for (const change of changes) {
        if (change.of === 'key') putKey(directory, change.key);
        else if (change.of === 'workspace') putWorkspace(directory, change.workspace);
        else if (change.of === 'account') putAccount(directory, change.account);
      }
      for (const change of changes) {
        if (change.of !== 'member') continue;
        const makers = await readMakers(change.person);
        putMaker(directory, change.person, makers.get(change.person) ?? (() => []));
      }
    },
    async reload() {
      const { accounts, workspaces, keys, makers } = await readContent(policies, readMakers);
      for (const account of accounts) directory.accounts.set(account.id, account);
      for (const workspace of workspaces) directory.workspaces.set(workspace.id, workspace);
      directory.makers.clear();
      for (const [person, rights] of makers ?? []) directory.makers.set(person, rights);
      for (const key of keys) putKey(directory, key);
    },
  };
}
