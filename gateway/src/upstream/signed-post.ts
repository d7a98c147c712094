/** Signs a request to the service of a user, so that it can tell that it comes from this gateway, and when. */
import { createHmac } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

/** The headers of a POST: its time in Unix seconds, and the HMAC of `<time>.<body>`. */
export function signPost(signing: Secret, body: string, nowMs: number): Record<string, string> {
  const timestamp = Math.floor(nowMs / 1_000).toString();
  const signature = createHmac('sha256', signing.reveal()).update(`${timestamp}.${body}`).digest('hex');
  return { 'tollgate-timestamp': timestamp, 'tollgate-signature': `sha256=${signature}` };
}
