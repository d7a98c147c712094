/**
 * Reads the header `Idempotency-Key`, and computes the keyed hashes under which a key and a body are stored. Contract,
 * 8.
 */

import { createHmac, hkdfSync } from 'node:crypto';
import { invalidRequest } from '../../errors/call-failure.ts';
import type { Secret } from '../../lib/secret.ts';
import type { ClientProtocolName } from '../../protocols/names.ts';

const NAME_CHARS_MAX = 255;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** The idempotency key of the request; null: none. Throws `invalid_request`. */
export function readIdempotencyName(headers: Headers): string | null {
  const name = headers.get('idempotency-key');
  if (name === null) return null;
  if (name.length > 0 && name.length <= NAME_CHARS_MAX && PRINTABLE.test(name)) return name;
  const found = PRINTABLE.test(name) ? `${name.length} characters` : 'a character that cannot be printed';
  throw invalidRequest(
    `idempotency-key has ${found}; expected 1 to ${NAME_CHARS_MAX} printable ASCII characters, such as a UUID`,
    'idempotency-key',
  );
}

export interface RunHasher {
  /** The same idempotency key under two API keys gives two hashes. Hex. */
  hashName(keyId: string, name: string): string;
  /** Hashes the endpoint and the bytes of the body. Hex. A large body is hashed in steps that yield to other calls. */
  hashBody(protocol: ClientProtocolName, body: Uint8Array): Promise<string>;
}

/** Hashing this many bytes blocks other calls for about 0.5 ms. */
const STEP_BYTES = 512 * 1024;

/** Keyed, so that a reader of the database without the master key cannot test guesses of a prompt. */
export function createRunHasher(masterKey: Secret): RunHasher {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate idempotency hash v1', 32);
  const key = Buffer.from(derived);
  return {
    hashName: (keyId, name) => createHmac('sha256', key).update(`name\0${keyId}\0${name}`).digest('hex'),
    async hashBody(protocol, body) {
      const hash = createHmac('sha256', key).update(`body\0${protocol}\0`);
      for (let at = 0; at < body.length; at += STEP_BYTES) {
        if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        hash.update(body.subarray(at, at + STEP_BYTES));
      }
      return hash.digest('hex');
    },
  };
}
