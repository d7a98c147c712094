/**
 * Reads and writes the gateway's seals (call/plan/reasoning-seal.ts) where Gemini has signatures. Clients hold a signature
 * as bytes: in JSON base64, which may come back in its URL-safe alphabet.
 */
import { SEAL_PREFIX } from '../../own-marks.ts';

/** How a seal begins as a value in a body: the prefix in base64, as far as what follows does not change it. */
export const WRITTEN_SEAL = '"Z3cyL';

/** `seal`: the prefix, and base64url. */
export function writeSeal(seal: string): string {
  const sealed = Buffer.from(seal.slice(SEAL_PREFIX.length), 'base64url');
  return Buffer.concat([Buffer.from(SEAL_PREFIX), sealed]).toString('base64');
}

/** The seal in a signature; null: another party's signature, or no signature. */
export function readSeal(signature: string | null): string | null {
  if (signature === null || !signature.startsWith(WRITTEN_SEAL.slice(1))) return null;
  const bytes = Buffer.from(signature, 'base64');
  const isSeal = bytes.toString('latin1', 0, SEAL_PREFIX.length) === SEAL_PREFIX;
  return isSeal ? SEAL_PREFIX + bytes.subarray(SEAL_PREFIX.length).toString('base64url') : null;
}
