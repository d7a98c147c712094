/** Derives the relying party of passkeys from the console's address: its host, and the one origin whose pages may ask for them. */
import { parseIpAddress } from '../../lib/ip-range.ts';

/** A relying party in the WebAuthn sense. */
export interface RelyingParty {
  /** The host, without a port. */
  readonly id: string;
  readonly origin: string;
}

/** Null where no passkey can be created: browsers create none for an IP address. `address`: the address of the console. */
export function relyingPartyOf(address: string): RelyingParty | null {
  const url = URL.parse(address);
  if (url === null || parseIpAddress(url.hostname.replace(/^\[|\]$/g, '')) !== null) return null;
  return { id: url.hostname, origin: url.origin };
}
