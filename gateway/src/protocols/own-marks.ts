/** Names what the gateway gives clients in the place of a provider's signature; no provider can read it. */

/** Begins a mark on reasoning that came without a signature. */
export const MARK_PREFIX = 'gw1.';
/** Begins sealed content (`ReasoningSeal`). Contract, 10.15. */
export const SEAL_PREFIX = 'gw2.';

/** Whether this gateway, or another one, made the text. */
export function isOwnMark(signature: string): boolean {
  return signature.startsWith(MARK_PREFIX) || signature.startsWith(SEAL_PREFIX);
}
