/** Owns whose address a call counts as: the connection's, or the forwarded one where a trusted proxy speaks. */
import { type IpRange, parseIpAddress, rangeHolds } from '../lib/ip-range.ts';

/**
 * `peer` is the connection's address. Where it is a trusted proxy's, `x-forwarded-for` is read from the right, and the
 * first address that is not a trusted proxy's is the caller's; a word that is no address ends the search (null: unknown).
 */
export function clientAddress(
  peer: string | null,
  forwardedFor: string | null,
  trustedProxies: readonly IpRange[],
): string | null {
  if (trustedProxies.length === 0 || forwardedFor === null || !isTrusted(peer, trustedProxies)) return peer;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = hops[index] ?? '';
    if (parseIpAddress(hop) === null) return null;
    if (index === 0 || !isTrusted(hop, trustedProxies)) return hop;
  }
  return peer;
}

/** Whether a trusted proxy says that the request came to it by https. `forwardedProto`: `x-forwarded-proto`, the first hop first. */
export function isForwardedHttps(
  peer: string | null,
  forwardedProto: string | null,
  trustedProxies: readonly IpRange[],
): boolean {
  if (forwardedProto === null || !isTrusted(peer, trustedProxies)) return false;
  return forwardedProto.split(',', 1)[0]?.trim().toLowerCase() === 'https';
}

function isTrusted(address: string | null, trustedProxies: readonly IpRange[]): boolean {
  const parsed = address === null ? null : parseIpAddress(address);
  return parsed !== null && trustedProxies.some((range) => rangeHolds(range, parsed));
}
