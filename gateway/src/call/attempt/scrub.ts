/** Owns taking the operator's secrets and account names out of an upstream's words before a caller reads them. */
import type { Secret } from '../../lib/secret.ts';
import type { Upstream } from '../../providers/upstream.ts';

/** Forms of credentials and account ids that providers put into error texts (seen in recorded traffic, November 2026). */
const ACCOUNT_WORDS =
  /\b(?:(?:sk|pk|rk|gsk|xai|pplx)-[\w-]{12,}|(?:sk|gsk)_\w{12,}|org-\w{10,}|(?:org|proj|user|acct)_(?=\w*\d)\w{10,}|AKIA[0-9A-Z]{16}|arn:aws[\w-]*:[\w:/.-]+)/g;
const MASK = '[redacted]';

/** What an upstream must never be heard to say; null: the demo has none, nor has a host without one. */
export function credentialOf(upstream: Upstream | undefined): Secret | null {
  return upstream?.kind === 'http' ? upstream.credential : null;
}

/** The same bytes where there is nothing to hide, else a copy with `[redacted]` in its place. */
export function scrub(bytes: Buffer, credential: Secret | null): Buffer {
  const text = bytes.toString('latin1');
  const secret = credential?.reveal() ?? '';
  let clean = text.replace(ACCOUNT_WORDS, MASK);
  if (secret.length >= 4) clean = clean.replaceAll(secret, MASK);
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

/** As `scrub`, for a text that goes into a message of ours. At most 500 characters, no control characters. */
export function scrubText(text: string, credential: Secret | null): string {
  const clean = scrub(Buffer.from(text), credential).toString('utf8');
  return Array.from(clean.slice(0, 500), (char) => (char < ' ' || char === '\u007f' ? ' ' : char)).join('');
}
