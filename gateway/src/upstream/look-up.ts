/**
 * Resolves the names of hosts that users enter, at the name servers alone. The resolver of the system holds a thread per
 * name for as long as its name servers are silent, and files and compression wait for those threads too.
 */
import { Resolver } from 'node:dns/promises';

/** Every address of a host, as text. */
export type LookUpHost = (host: string) => Promise<readonly string[]>;

/** A resolver reads once which name servers the system uses; a network may change. */
const RESOLVER_MS = 30_000;
/** RFC 6761, 6.3: name servers are not asked about these names. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

/** IPv4 first. `servers`: instead of those of the system, as `address:port`. */
export function createLookUp(servers?: readonly string[]): LookUpHost {
  let resolver: Resolver | null = null;
  let untilMs = 0;
  return async (host) => {
    if (LOCALHOST.test(host)) return ['127.0.0.1', '::1'];
    const nowMs = performance.now();
    if (resolver === null || nowMs > untilMs) {
      resolver = new Resolver();
      untilMs = nowMs + RESOLVER_MS;
      if (servers !== undefined) resolver.setServers(servers);
    }
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    // A host may have addresses of one family only.
    if (addresses.length === 0) for (const one of found) if (one.status === 'rejected') throw one.reason;
    return addresses;
  };
}
