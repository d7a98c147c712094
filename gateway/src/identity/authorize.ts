/** Authenticates API keys and decides what a caller may do. Does not know which models exist. */
import { parseIpAddress, rangeHolds } from '../lib/ip-range.ts';
import type { Scope } from '../store/ports/records.ts';
import type { KeyDirectory, KeyEntry } from './key-directory.ts';
import { hasKeyForm } from './key-format.ts';
import type { Principal } from './principal.ts';

export type AuthorizationRefusal = 'scope' | 'address' | 'model';
export type Authorization = 'allowed' | AuthorizationRefusal;

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

type AuthenticationRefusal = 'malformed' | 'unknown' | 'expired' | 'disabled' | 'revoked' | 'ownerless';
type Authentication = Principal | AuthenticationRefusal;

/**
 * The principal of an API key, or the reason for its rejection (a string). `keyText` is the credential as the client sent it,
 * `nowMs` the current time in unix ms. A text with a wrong form or checksum is refused before any look-up; the look-up
 * uses a keyed hash, so its duration reveals nothing about keys.
 */
export function authenticate(directory: KeyDirectory, keyText: string, nowMs: number): Authentication {
  if (!hasKeyForm(keyText)) return 'malformed';
  const entry = directory.byHash.get(directory.hashKey(keyText));
  return entry === undefined ? 'unknown' : openEntry(entry, nowMs);
}

/** The principal of a directory entry at this time, or why the entry is not valid. */
export function openEntry(entry: KeyEntry, nowMs: number): Exclude<Authentication, 'malformed' | 'unknown'> {
  if (entry.status !== 'active') return entry.status;
  return nowMs < entry.endsAtMs ? entry.principal : 'expired';
}
