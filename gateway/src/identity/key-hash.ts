/** Owns the keyed hash under which an API key is stored and found. Knows neither the key's form nor where the master key lies. */
import { hkdfSync } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

/** From an API key's text to its hash: 64 hex characters, useless to who has the database but not the master key. */
export type KeyHasher = (keyText: string) => string;

/**
 * The hasher that belongs to a master key (64 hex characters): HMAC-SHA256 under a key of its own, derived by HKDF so
 * that the master key can serve other purposes beside. A 256-bit random secret needs no slow hash.
 */
export function createKeyHasher(masterKey: Secret): KeyHasher {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate api key hash v1', 32);
  const keyed = new Bun.CryptoHasher('sha256', Buffer.from(derived));
  return (keyText) => keyed.copy().update(keyText).digest('hex');
}
