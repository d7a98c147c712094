/** Creates the tokens of one-time links: 256 random bits, stored only as a hash. */
import { createHash, randomBytes } from 'node:crypto';

export interface OneTimeToken {
  /** 43 characters that need no escaping in a URL. */
  readonly token: string;
  /** 64 hex characters. */
  readonly hash: string;
}

export function createToken(): OneTimeToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** A fast hash is enough for 256 random bits. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
