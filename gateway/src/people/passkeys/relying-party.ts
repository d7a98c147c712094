/** Owns for whom passkeys are made: the host that people reach the console at, and the one origin whose pages may ask for them. */
import { parseIpAddress } from '../../lib/ip-range.ts';

/** What WebAuthn calls a relying party. */
export interface RelyingParty {
  /** The host, without a port. */
  readonly id: string;
  readonly origin: string;
}

/** Null where no passkey can be made: browsers make none for an IP address. `address`: what people reach the console at. */
export function relyingPartyOf(address: string): RelyingParty | null {
  const url = URL.parse(address);
  if (url === null || parseIpAddress(url.hostname.replace(/^\[|\]$/g, '')) !== null) return null;
  return { id: url.hostname, origin: url.origin };
}
