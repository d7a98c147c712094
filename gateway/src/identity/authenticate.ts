/** Owns the question who is calling. Each answer but a principal is a 401 to the caller; the word is for our own log. */
import type { KeyDirectory, KeyEntry } from './key-directory.ts';
import { hasKeyForm } from './key-format.ts';
import type { Principal } from './principal.ts';

export type AuthenticationRefusal = 'malformed' | 'unknown' | 'expired' | 'disabled' | 'revoked' | 'ownerless';
export type Authentication = Principal | AuthenticationRefusal;

/**
 * The principal behind an API key, or why there is none (a string). `keyText` is the credential as the caller sent it,
 * `nowMs` the present in unix ms. A text with a wrong form or checksum is refused before any look-up; what is looked
 * up is a keyed hash, so the time it takes tells nothing about keys.
 */
export function authenticate(directory: KeyDirectory, keyText: string, nowMs: number): Authentication {
  if (!hasKeyForm(keyText)) return 'malformed';
  const entry = directory.byHash.get(directory.hashKey(keyText));
  return entry === undefined ? 'unknown' : openEntry(entry, nowMs);
}

/** The principal that a secret of the directory opens now, or why it opens none. */
export function openEntry(entry: KeyEntry, nowMs: number): Exclude<Authentication, 'malformed' | 'unknown'> {
  if (entry.status !== 'active') return entry.status;
  return nowMs < entry.endsAtMs ? entry.principal : 'expired';
}
