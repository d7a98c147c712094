/**
 * Parses and validates an operator's address, and derives the origin that a credential is bound to. Opens no
 * connection.
 */
import { type Fault, quoteText } from './file/config-problem.ts';

export interface BaseUrl {
  /** Scheme, host and path, without a trailing slash. */
  readonly url: string;
  readonly origin: string;
}

const expected = 'an address such as https://api.example.com/v1';

/**
 * Parses an address that is written exactly as it will be used. Refuses credentials, a query or a fragment, and a host
 * that means another than it shows (`0x7f.1`, full-width dots, `host#.example.com`). No fault quotes a credential.
 */
export function parseBaseUrl(text: string): BaseUrl | Fault {
  const faultless = (found: string, advice: string): Fault => ({ found, expected, advice });
  if (text.includes('@')) return faultless('an address with @ in it', 'Put the credential into api_key.');
  if (/[?#]/.test(text)) return faultless('an address with a query or fragment', 'Remove what begins at ? or #.');
  const [, authority] = /^https?:\/\/([^\s/\\\p{Cc}]+)(?:\/[^\s\\\p{Cc}]*)?$/u.exec(text) ?? [];
  const url = authority === undefined ? null : URL.parse(text);
  if (authority === undefined || url === null) {
    return faultless('a text that is no http:// or https:// address', 'Write scheme, host and path.');
  }
  const defaultPort = url.protocol === 'https:' ? ':443' : ':80';
  const shown = authority.toLowerCase();
  if (shown !== url.host && shown !== url.host + defaultPort) {
    return faultless(`a host that means ${quoteText(url.host)}`, `Write ${url.host} if that is what you want.`);
  }
  return { url: url.origin + url.pathname.replace(/\/+$/, ''), origin: url.origin };
}
