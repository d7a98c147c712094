/** Computes the codes of an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). */
import { createHmac } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

/** `secret`: base32, with or without spaces. */
export function timeCode(secret: string, nowMs: number): string {
  const bits = [...secret.replaceAll(/[^A-Z2-7]/g, '')]
    .map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(nowMs / STEP_MS)));
  const digest = createHmac('sha1', key).update(step).digest();
  const code = digest.readUInt32BE((digest[19] ?? 0) & 15) & 0x7fff_ffff;
  return String(code % 1_000_000).padStart(6, '0');
}
