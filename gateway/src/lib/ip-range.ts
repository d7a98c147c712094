/**
 * Parses IP addresses and CIDR ranges, matches one against the other, and tells public addresses. A v4-mapped IPv6
 * address is its IPv4 address. Resolves no name.
 */
import { isIP } from 'node:net';
import { IPv4, IPv6 } from 'ipaddr.js';

export type IpAddress = IPv4 | IPv6;

/** A network and the number of bits of its prefix; a range contains addresses of its own family only. */
export type IpRange = readonly [network: IpAddress, prefixBits: number];

const V4_MAPPED = IPv6.parse('::ffff:0:0');

/**
 * Parses an address (dotted IPv4, or IPv6 per RFC 4291 section 2.2, without a zone); null if it is not one. The runtime
 * decides what is an address: the library also accepts octal, hexadecimal and shortened IPv4, which mean different
 * hosts to different readers.
 */
export function parseIpAddress(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 4) return parseIpv4(text);
  if (family === 0 || text.includes('%')) return null;
  const address = IPv6.parse(withoutDots(text));
  const [high = 0, low = 0] = address.parts.slice(6);
  return address.match(V4_MAPPED, 96) ? new IPv4([high >> 8, high & 255, low >> 8, low & 255]) : address;
}

function parseIpv4(text: string): IPv4 {
  return new IPv4(text.split('.').map(Number));
}

/** The library reads `::1.2.3.4` as `::ffff:1.2.3.4`; in hexadecimal form it reads the address correctly. */
function withoutDots(text: string): string {
  if (!text.includes('.')) return text;
  const tailAt = text.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = parseIpv4(text.slice(tailAt)).octets;
  return `${text.slice(0, tailAt)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/**
 * Parses a range: `10.0.0.0/8`, `2001:db8::/32`, or one address.
 *
 * @throws RangeError that says what was found, what was expected, and what to write instead.
 */
export function parseIpRange(text: string): IpRange {
  const found = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const expected = 'expected an IP address or a CIDR range (such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32)';
  const [addressText = '', prefixText, ...more] = text.split('/');
  const network = parseIpAddress(addressText);
  if (network === null || more.length > 0) throw new RangeError(`found ${found}, ${expected}`);
  const [Family, widthBits] = network.kind() === 'ipv4' ? [IPv4, 32] : [IPv6, 128];
  if (prefixText === undefined) return [network, widthBits];
  // A v4-mapped range counts its prefix in IPv6's 128 bits: ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const offsetBits = widthBits === 32 && addressText.includes(':') ? 96 : 0;
  const prefixBits = /^(0|[1-9]\d{0,2})$/.test(prefixText) ? Number(prefixText) - offsetBits : -1;
  if (prefixBits < 0 || prefixBits > widthBits) {
    throw new RangeError(
      `found ${found}, expected a prefix from ${offsetBits} to ${widthBits + offsetBits} after the slash`,
    );
  }
  const start = Family.networkAddressFromCIDR(`${network}/${prefixBits}`);
  if (!start.match(network, widthBits)) {
    throw new RangeError(
      `found ${found}, which has bits beyond its prefix; write ${start}/${prefixBits} for the range, or the address alone`,
    );
  }
  return [network, prefixBits];
}

/** Whether the address is in the range. */
export function rangeHolds([network, prefixBits]: IpRange, address: IpAddress): boolean {
  return network.kind() === address.kind() && address.match(network, prefixBits);
}

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

const LOOPBACK: readonly IpRange[] = ['127.0.0.0/8', '::1'].map(parseIpRange);

/** Whether the text is an address of this machine itself. */
export function isLoopback(text: string): boolean {
  const address = parseIpAddress(text);
  return address !== null && LOOPBACK.some((range) => rangeHolds(range, address));
}

/** Whether the address is reachable on the public internet. */
export function isPublicAddress(address: IpAddress): boolean {
  if (address.kind() === 'ipv6' && !rangeHolds(GLOBAL_UNICAST, address)) return false;
  return !NOT_PUBLIC.some((range) => rangeHolds(range, address));
}
