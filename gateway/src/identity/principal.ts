/**
 * Defines the principal of a call: the key, its workspace and account, and the permissions of both, compiled for quick
 * checks. Authenticates API keys, decides what their principals may do, and notes the last use of a key's secret. Does not
 * know which models exist.
 */
import { type IpRange, parseIpAddress, rangeHolds } from '../lib/ip-range.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { BodyPolicy, CachePolicy, HoldMode, KeyStatus, Scope } from '../store/ports/records.ts';
import { hasForeignForm, hashForeignText, hasKeyForm, type KeyHasher } from './key-format.ts';

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
  /** Data tags that every target of its calls must carry: the workspace's and the key's. */
  readonly requiredTags: readonly string[];
  /** Which calls' content the workspace stores; null: as configured. */
  readonly bodies: BodyPolicy | null;
  /** How the workspace caches answers; null: it does not. */
  readonly cache: WorkspaceCache | null;
}

/** The cache of a workspace, and for how many days it stores content; null: as configured. */
export interface WorkspaceCache extends CachePolicy {
  readonly bodiesDays: number | null;
}

/** Decides on one model name. Takes time linear in the name for each pattern with a `*`, constant for the others. */
export type ModelMatcher = (name: string) => boolean;

/** The matcher of a list of patterns; `null` means no restriction. */
export function compileModelPatterns(patterns: readonly string[] | null): ModelMatcher {
  if (patterns === null || patterns.some((pattern) => /^\*+$/.test(pattern))) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(compileWildcard);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/**
 * Text before the first `*` must begin the name, text after the last must end it, and the rest is found left to right.
 * The leftmost match is always right, so no backtracking is needed.
 */
function compileWildcard(pattern: string): ModelMatcher {
  const pieces = pattern.split('*');
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const middle = pieces.slice(1, -1).filter((piece) => piece !== '');
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let at = first.length;
    for (const piece of middle) {
      const found = name.indexOf(piece, at);
      if (found === -1 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}

/**
 * The last use of one secret: a rotated key has two. Changed by every call, and shared by all holders of the secret.
 */
export interface KeyUse {
  /** Unix ms; -Infinity: never. */
  atMs: number;
  /** The client's name and version as it states them; null: not stated. */
  client: string | null;
  /** The last use stored on disk, unix ms. */
  keptAtMs: number;
}

/** Calls closer together than this count as one use, so that a call pays only for a comparison. */
const NOTED_EVERY_MS = 1_000;
const CLIENT_LENGTH_MAX = 64;

export function newKeyUse(): KeyUse {
  return { atMs: Number.NEGATIVE_INFINITY, client: null, keptAtMs: Number.NEGATIVE_INFINITY };
}

/** Records a call of the secret at `atMs`. */
export function noteUse(use: KeyUse, headers: Headers, atMs: number): void {
  if (Math.abs(atMs - use.atMs) < NOTED_EVERY_MS) return;
  use.atMs = atMs;
  use.client = readClient(headers.get('user-agent'));
}

/**
 * The first product of a user agent, such as `claude-cli/2.0.1`; null if it does not begin with one. RFC 9110, 10.1.5.
 */
export function readClient(userAgent: string | null): string | null {
  const [product] = /^[\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?/.exec(userAgent ?? '') ?? [];
  return product?.slice(0, CLIENT_LENGTH_MAX) ?? null;
}

type AuthorizationRefusal = 'scope' | 'address' | 'model';
type Authorization = 'allowed' | AuthorizationRefusal;

/** What a caller requests. */
export interface AccessRequest {
  readonly scope: Scope;
  /** The client's address as text; null if unknown: then a key with an address list is refused. */
  readonly address: string | null;
  /** All public names of the requested model: its name and its aliases. Null: no model is requested. */
  readonly modelNames: readonly string[] | null;
}

/** Whether the principal may: checks its scope, then its address, then the model, by key and by workspace. */
export function authorize(principal: Principal, request: AccessRequest): Authorization {
  if (!principal.scopes.includes(request.scope)) return 'scope';
  if (!mayComeFrom(principal, request.address)) return 'address';
  if (request.modelNames !== null && !mayUseModel(principal, request.modelNames)) return 'model';
  return 'allowed';
}

/** The permissions of a key and its workspace for models. */
export type ModelRights = Pick<Principal, 'keyAllows' | 'workspaceAllows'>;

/** Whether both the key and its workspace allow a model, under any of its public names. */
export function mayUseModel(rights: ModelRights, modelNames: readonly string[]): boolean {
  return keyAllowsModel(rights, modelNames) && workspaceAllowsModel(rights, modelNames);
}

export function keyAllowsModel({ keyAllows }: ModelRights, modelNames: readonly string[]): boolean {
  return modelNames.some(keyAllows);
}

export function workspaceAllowsModel({ workspaceAllows }: ModelRights, modelNames: readonly string[]): boolean {
  return modelNames.some(workspaceAllows);
}

/** Whether the principal's key may be used from an address; null: the address is unknown. */
export function mayComeFrom({ ranges }: Principal, address: string | null): boolean {
  return ranges === null || comesFrom(ranges, address);
}

function comesFrom(ranges: NonNullable<Principal['ranges']>, addressText: string | null): boolean {
  const address = addressText === null ? null : parseIpAddress(addressText);
  return address !== null && ranges.some((range) => rangeHolds(range, address));
}

/** The entry of a hash. A rotated key has two entries until the next rotation replaces the old secret's. */
export interface KeyEntry {
  readonly principal: Principal;
  /** `ownerless`: the key's creator may no longer create keys there. */
  readonly status: KeyStatus | 'ownerless';
  /** Of the secret; shared with its principal. */
  readonly use: KeyUse;
  /** Unix ms from which the secret no longer works; infinite if it does not end. */
  readonly endsAtMs: number;
  /** The same of its key, which outlives a secret that a rotation replaced. */
  readonly keyEndsAtMs: number;
}

/** Finds the entry of a secret by its keyed hash. */
export interface KeyLookup {
  readonly hashKey: KeyHasher;
  readonly byHash: ReadonlyMap<string, KeyEntry>;
  /** The hashes of imported keys. */
  readonly imported: ReadonlySet<string>;
  /** By the text of the key: entries that were found since a key last changed. */
  readonly found: Map<string, KeyEntry>;
}

type AuthenticationRefusal = 'malformed' | 'unknown' | 'expired' | 'replaced' | 'disabled' | 'revoked' | 'ownerless';
type Authentication = Principal | AuthenticationRefusal;

/** With more keys in use than this, the directory forgets those that it found, and finds them again. */
const FOUND_MAX = 10_000;

/**
 * The principal of an API key, or the reason for its rejection (a string). `keyText` is the credential as the client
 * sent it, `nowMs` the current time in unix ms. A text with a wrong form or checksum is refused before any look-up; the
 * look-up uses a keyed hash, so its duration reveals nothing about keys. A key that was found is found again without
 * hashing, until any key changes.
 */
export function authenticate(directory: KeyLookup, keyText: string, nowMs: number): Authentication {
  const { byHash, found } = directory;
  let entry = found.get(keyText);
  if (entry === undefined) {
    const hash = hashOf(directory, keyText);
    if (hash === null) return 'malformed';
    entry = byHash.get(hash);
    if (entry === undefined) return 'unknown';
    if (found.size >= FOUND_MAX) found.clear();
    found.set(keyText, entry);
  }
  const opened = openEntry(entry, nowMs);
  return opened === 'expired' && nowMs < entry.keyEndsAtMs ? 'replaced' : opened;
}

/** Null: the text has the form of no key. Imported keys cost two hashes, and are only looked for where there are any. */
function hashOf({ hashKey, imported }: KeyLookup, keyText: string): string | null {
  if (hasKeyForm(keyText)) return hashKey(keyText);
  return imported.size > 0 && hasForeignForm(keyText) ? hashForeignText(hashKey, keyText) : null;
}

/** The principal of a directory entry at this time, or why the entry is not valid. */
export function openEntry(
  entry: KeyEntry,
  nowMs: number,
): Exclude<Authentication, 'malformed' | 'unknown' | 'replaced'> {
  if (entry.status !== 'active') return entry.status;
  return nowMs < entry.endsAtMs ? entry.principal : 'expired';
}
