/** Owns the key of everything that sign-in signs and encrypts: cookies, authenticator secrets, recovery codes. */
import { hkdfSync } from 'node:crypto';
import { Secret } from '../lib/secret.ts';

/** Derived from the master key (64 hex characters) and from nothing else, so that it holds over restarts. 64 hex characters. */
export function deriveAuthSecret(masterKey: Secret): Secret {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate people v1', 32);
  return new Secret(Buffer.from(derived).toString('hex'));
}
