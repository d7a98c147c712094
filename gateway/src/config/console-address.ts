/** Owns which addresses a provider that is entered in the console may have. Looks up no name and opens no connection. */
import { parseIpAddress } from '../lib/ip-range.ts';
import { isPublicAddress } from '../lib/public-address.ts';
import type { BaseUrl } from './base-url.ts';
import { type Fault, quoteText } from './config-problem.ts';

/** Names that no public server has: RFC 6761, RFC 6762, and what ICANN set aside for private use in 2024. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/;

/**
 * What keeps the address from being used; null: nothing that can be seen in it. Whoever may write to the console is not
 * whoever may write the file: what is reached from this machine alone must stand there.
 */
export function checkConsoleAddress({ origin }: BaseUrl, privateOrigins: readonly string[]): Fault | null {
  if (privateOrigins.includes(origin)) return null;
  const { protocol, hostname } = new URL(origin);
  const advice = `Write ${origin} under server.private_origins in the configuration file if it is meant.`;
  if (protocol !== 'https:') return { found: quoteText(origin), expected: 'an https:// address', advice };
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = parseIpAddress(host);
  const isPublic = address === null ? host.includes('.') && !LOCAL_NAME.test(host) : isPublicAddress(address);
  return isPublic ? null : { found: quoteText(origin), expected: 'a host of the public internet', advice };
}
