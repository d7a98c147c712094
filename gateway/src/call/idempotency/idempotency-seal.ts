/**
 * Encrypts stored answers, each bound to its run, and decrypts them for replay. Computes the keyed hashes under which an
 * idempotency key and a body are stored. Stores nothing.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';
import type { RunName } from '../../store/ports/idempotency.ts';

/** The client's reply, and its fields in the record. `error`: a non-streamed answer was cut because money ran out. */
export interface StoredHead {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly stream: boolean;
  readonly error: string | null;
  readonly finish_reason: string | null;
  readonly served_model: string | null;
  readonly provider: string | null;
}

export interface StoredAnswer {
  readonly head: StoredHead;
  readonly body: Buffer;
}

export interface AnswerSeal {
  /** Takes the body as collected. A large one is encrypted in steps that yield to other calls. */
  seal(run: RunName, head: StoredHead, body: readonly Uint8Array[]): Promise<Buffer>;
  /** Null: not sealed for this run with this master key, or changed since. */
  open(run: RunName, sealed: Uint8Array): StoredAnswer | null;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const LENGTH_BYTES = 4;
/** Encrypting this many bytes blocks other calls for less than 1 ms. */
const STEP_BYTES = 512 * 1024;

/**
 * AES-256-GCM with a key derived from the master key. Sealed form: a version byte, the nonce, the tag, then the
 * ciphertext of the head's length (4 bytes, big-endian), the head as JSON and the body. A random nonce is safe for 2^32
 * answers (NIST SP 800-38D, 8.3): 1,000 per second for seven weeks, counting only calls with an idempotency key.
 */
export function createAnswerSeal(masterKey: Secret): AnswerSeal {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate idempotency answer v1', 32);
  const key = Buffer.from(derived);
  return {
    async seal(run, head, body) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(run));
      const text = Buffer.from(JSON.stringify(head));
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(text.length);
      const bodyBytes = body.reduce((sum, piece) => sum + piece.length, 0);
      const sealed = Buffer.allocUnsafeSlow(OVERHEAD_BYTES + LENGTH_BYTES + text.length + bodyBytes);
      let at = OVERHEAD_BYTES;
      let stepBytes = 0;
      for (const piece of [length, text, ...body].flatMap(inSteps)) {
        // In this mode output and input have the same length.
        at += cipher.update(piece).copy(sealed, at);
        stepBytes += piece.length;
        if (stepBytes < STEP_BYTES) continue;
        stepBytes = 0;
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      cipher.final();
      Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag()]).copy(sealed);
      return sealed;
    },
    open(run, sealed) {
      if (sealed.length < OVERHEAD_BYTES + LENGTH_BYTES || sealed[0] !== VERSION) return null;
      const tagAt = 1 + NONCE_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, tagAt), { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(run)).setAuthTag(sealed.subarray(tagAt, OVERHEAD_BYTES));
      const plain = decipher.update(sealed.subarray(OVERHEAD_BYTES));
      try {
        decipher.final();
      } catch {
        return null;
      }
      const bodyAt = LENGTH_BYTES + plain.readUInt32BE();
      const head = JSON.parse(plain.toString('utf8', LENGTH_BYTES, bodyAt)) as StoredHead;
      return { head, body: plain.subarray(bodyAt) };
    },
  };
}

function inSteps(piece: Uint8Array): Uint8Array[] {
  const steps: Uint8Array[] = [];
  for (let at = 0; at < piece.length; at += STEP_BYTES) steps.push(piece.subarray(at, at + STEP_BYTES));
  return steps;
}

/** Answers moved to another key, name, request or call do not open. */
function boundTo({ keyId, nameHash, bodyHash, callId }: RunName): Buffer {
  return Buffer.from([keyId, nameHash, bodyHash, callId].join('|'));
}

export interface RunHasher {
  /** The same idempotency key under two API keys gives two hashes. Hex. */
  hashName(keyId: string, name: string): string;
  /** Hashes the endpoint, with what its path names, and the bytes of the body. Hex. A large body is hashed in steps that yield to other calls. */
  hashBody(endpoint: string, body: Uint8Array): Promise<string>;
}

/** Hashing this many bytes blocks other calls for about 0.5 ms. */
const HASH_STEP_BYTES = 512 * 1024;

/** Keyed, so that a reader of the database without the master key cannot test guesses of a prompt. */
export function createRunHasher(masterKey: Secret): RunHasher {
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate idempotency hash v1', 32);
  const key = Buffer.from(derived);
  return {
    hashName: (keyId, name) => createHmac('sha256', key).update(`name\0${keyId}\0${name}`).digest('hex'),
    async hashBody(endpoint, body) {
      const hash = createHmac('sha256', key).update(`body\0${endpoint}\0`);
      for (let at = 0; at < body.length; at += HASH_STEP_BYTES) {
        if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve));
        hash.update(body.subarray(at, at + HASH_STEP_BYTES));
      }
      return hash.digest('hex');
    },
  };
}
