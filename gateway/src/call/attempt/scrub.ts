/** Removes the operator's secrets and account names from upstream's texts before a caller reads them. */
import type { Secret } from '../../lib/secret.ts';

/** Credentials and account ids that providers put into error texts (seen in recorded traffic, November 2026). */
const ACCOUNT_WORDS =
  /\b(?:(?:sk|pk|rk|gsk|xai|pplx)-[\w-]{12,}|(?:sk|gsk)_\w{12,}|org-\w{10,}|(?:org|proj|user|acct)_(?=\w*\d)\w{10,}|A[KS]IA[0-9A-Z]{16}|arn:aws[\w-]*:[\w:/.-]+)/g;
const MASK = '[redacted]';

/** Returns the same bytes if there is nothing to hide, otherwise a copy with `[redacted]` in place. */
export function scrub(bytes: Buffer, secrets: readonly Secret[]): Buffer {
  const text = bytes.toString('latin1');
  let clean = text.replace(ACCOUNT_WORDS, MASK);
  for (const secret of secrets) {
    const word = secret.reveal();
    if (word.length >= 4) clean = clean.replaceAll(word, MASK);
  }
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

/** Like `scrub`, for text inside the gateway's own messages. At most 500 characters, no control characters. */
export function scrubText(text: string, secrets: readonly Secret[]): string {
  const clean = scrub(Buffer.from(text), secrets).toString('utf8');
  return Array.from(clean.slice(0, 500), (char) => (char < ' ' || char === '\u007f' ? ' ' : char)).join('');
}
