/**
 * Owns the mark that stands where a signature belongs on reasoning whose issuer signs nothing: it tells us again whose it
 * is, and every other issuer that it is none of his. It proves nothing to anybody else.
 */
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

export const MARK_PREFIX = 'gw1.';

export interface ReasoningMark {
  /** `gw1.…` for a text that `provider` reasoned. Never empty. */
  sign(provider: string, text: string): string;
  /** Whether we made this mark for this very text of this provider. */
  isFrom(provider: string, signature: string, text: string): boolean;
}

/** Derived from the master key, so that marks hold over restarts. */
export function createReasoningMark(masterKey: Secret): ReasoningMark {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate reasoning mark v1', 32);
  const key = Buffer.from(derived);
  const sign = (provider: string, text: string) => {
    const hash = createHash('sha256').update(text).digest();
    return `${MARK_PREFIX}${createHmac('sha256', key).update(`${provider}\0`).update(hash).digest('base64url')}`;
  };
  return {
    sign,
    isFrom(provider, signature, text) {
      if (!signature.startsWith(MARK_PREFIX)) return false;
      const expected = Buffer.from(sign(provider, text));
      const found = Buffer.from(signature);
      return found.length === expected.length && timingSafeEqual(found, expected);
    },
  };
}
