/** Tells addresses of the public internet from private and reserved ones. Resolves no name. */
import { type IpAddress, type IpRange, parseIpRange, rangeHolds } from './ip-range.ts';

/**
 * Ranges that are not public, from IANA's special-purpose registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, read 2026-11-21): this host, private networks,
 * carriers' networks, link-local with the clouds' metadata, documentation, benchmarks, multicast, reserved.
 */
const NOT_PUBLIC: readonly IpRange[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Inside 2000::/3: protocols and tunnels (Teredo), documentation, 6to4, which carry IPv4 addresses of any kind.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].map(parseIpRange);

/** The only allocated part of IPv6; other addresses map IPv4 (NAT64) or are local. */
const GLOBAL_UNICAST = parseIpRange('2000::/3');

/** Whether the address is reachable on the public internet. */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.kind() === 'ipv6' && !rangeHolds(GLOBAL_UNICAST, address)) return false;
  return !NOT_PUBLIC.some((range) => rangeHolds(range, address));
}
