/** Compresses and encrypts what calls say for the disk, bound to its owner, and decrypts it. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const LENGTH_BYTES = 4;

/**
 * AES-256-GCM over zstd. The sealed form: a version byte, the nonce, the tag, then the ciphertext of the head's length
 * (4 bytes, big-endian), the head as JSON, and the bodies. A random nonce is safe for 2^32 calls (NIST SP 800-38D,
 * 8.3). `owner`: the additional data; what was moved to another owner cannot be decrypted.
 */
export function sealText(key: Uint8Array, owner: Uint8Array, head: object, bodies: readonly Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  const text = zstdCompressSync(Buffer.concat([length, json, ...bodies]));
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(owner);
  const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), encrypted]);
}

/** The head, and the bodies in one. Throws where it was not sealed for this owner with this key, or was changed since. */
export function openText(
  key: Uint8Array,
  owner: Uint8Array,
  sealed: Uint8Array,
): { readonly head: unknown; readonly bodies: Buffer } {
  if (sealed.length < OVERHEAD_BYTES || sealed[0] !== VERSION) throw new Error('it is not of the form that we seal');
  const tagAt = 1 + NONCE_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, tagAt), { authTagLength: TAG_BYTES });
  decipher.setAAD(owner).setAuthTag(sealed.subarray(tagAt, OVERHEAD_BYTES));
  const text = zstdDecompressSync(Buffer.concat([decipher.update(sealed.subarray(OVERHEAD_BYTES)), decipher.final()]));
  const bodiesAt = LENGTH_BYTES + text.readUInt32BE();
  return { head: JSON.parse(text.toString('utf8', LENGTH_BYTES, bodiesAt)), bodies: text.subarray(bodiesAt) };
}
