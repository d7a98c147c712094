/** Defines the format of API keys: generates, validates and hashes them. Knows no store. */
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** By character code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, ALPHABET.indexOf(String.fromCharCode(code))));
const PREFIX = 'tg_';
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const CHECKSUM_START = PREFIX.length + BODY_LENGTH;
const KEY_LENGTH = CHECKSUM_START + CHECKSUM_LENGTH;
const KEY_FORM = /^tg_[0-9A-Za-z]{49}$/;

/** A new API key: `tg_`, 256 random bits as 43 base62 characters, and the CRC32 of those characters as 6 more. */
export function generateKeyText(): string {
  const body = renderBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), BODY_LENGTH);
  return PREFIX + body + renderChecksum(body);
}

/**
 * Whether a text has the form of our keys, checksum included. One wrong character, or two swapped neighbors, is always
 * detected: both are error bursts shorter than CRC32's 32 bits.
 */
export function hasKeyForm(text: string): boolean {
  if (text.length !== KEY_LENGTH || !KEY_FORM.test(text)) return false;
  return readBase62(text, CHECKSUM_START) === Bun.hash.crc32(text.slice(PREFIX.length, CHECKSUM_START));
}

/**
 * The number in the base62 digits from `start` on. Optimized, because it runs for each call: comparing texts takes
 * three times as long.
 */
function readBase62(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < text.length; at++) value = value * 62 + (DIGITS[text.charCodeAt(at)] ?? 0);
  return value;
}

/** A new identifier such as `key_8Zq0…`: a prefix, and 20 random base62 characters (119 bits, no secret). */
export function generateId(word: string): string {
  return `${word}_${renderBase62(BigInt(`0x${randomBytes(15).toString('hex')}`) % 62n ** 20n, 20)}`;
}

/** Base62, most significant digit first, padded with `0`. */
function renderBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
  return digits;
}

function renderChecksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Hashes an API key's text: 64 hex characters, useless to someone who has the database but not the master key. */
export type KeyHasher = (keyText: string) => string;

/**
 * The hasher of a master key (64 hex characters): HMAC-SHA256 under its own key, derived by HKDF so that the master key
 * can also serve other purposes. A 256-bit random secret needs no slow hash.
 */
export function createKeyHasher(masterKey: Secret): KeyHasher {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate api key hash v1', 32);
  const keyed = new Bun.CryptoHasher('sha256', Buffer.from(derived));
  return (keyText) => keyed.copy().update(keyText).digest('hex');
}

const IMPORTED = 'sha256:';
const FOREIGN_KEY = /^sk-[\x21-\x7e]{1,253}$/;

/** Whether a text has the form of keys that are imported from other gateways: `sk-…`, at most 256 characters. */
export function hasForeignForm(text: string): boolean {
  return text.length <= 256 && FOREIGN_KEY.test(text);
}

/**
 * The hash under which an imported key is stored and found. Other gateways keep the SHA-256 of a key, 64 hex characters;
 * it is hashed again under the master key, because people choose some of those keys, and short ones could be guessed from
 * a copy of the database. Never equal to the hash of a key of ours.
 */
export function hashImportedKey(hashKey: KeyHasher, sha256: string): string {
  return IMPORTED + hashKey(IMPORTED + sha256);
}

/** The hash of an imported key's text. */
export function hashForeignText(hashKey: KeyHasher, keyText: string): string {
  return hashImportedKey(hashKey, new Bun.CryptoHasher('sha256').update(keyText).digest('hex'));
}

/** Whether a stored hash is that of an imported key. */
export function isImportedHash(hash: string): boolean {
  return hash.startsWith(IMPORTED);
}
