/** Owns what one-time links carry: 256 random bits, kept only as their hash. */
import { createHash, randomBytes } from 'node:crypto';

export interface OneTimeToken {
  /** 43 characters that stand in an address as they are. */
  readonly token: string;
  /** 64 hex characters. */
  readonly hash: string;
}

export function drawToken(): OneTimeToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** So many random bits need no slow hash. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
