/** Owns what a session's token is kept as. Apart from the library that makes tokens, which is loaded when it is needed. */
import { createHash } from 'node:crypto';

/** What a session token is kept and found as: it has 190 random bits, so a plain hash gives nothing away. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
