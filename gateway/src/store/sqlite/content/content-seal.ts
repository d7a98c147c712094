/** Compresses and encrypts a call's content for the disk, bound to its call, and decrypts it. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Secret } from '../../../lib/secret.ts';
import type { CallContent, StoredBytes } from '../../ports/content.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const LENGTH_BYTES = 4;
const BODIES = ['request', 'upstreamRequest', 'response', 'upstreamResponse'] as const;

type Body = (typeof BODIES)[number];
/** For each body, in the order of `BODIES`: its bytes kept and in total; `same`: sent unchanged; null: no body. */
type Lengths = ReadonlyArray<readonly [kept: number, total: number] | 'same' | null>;
type Head = Omit<CallContent, Body> & { readonly lengths: Lengths };

/** Derives the key of all content, 32 bytes, from the master key. */
export function deriveContentKey(masterKey: Secret): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate call content v1', 32));
}

/**
 * AES-256-GCM over zstd. The sealed form: a version byte, the nonce, the tag, then the ciphertext of the head's length
 * (4 bytes, big-endian), the head as JSON, and the bodies. A random nonce is safe for 2^32 calls (NIST SP 800-38D,
 * 8.3).
 */
export function sealContent(key: Uint8Array, content: CallContent): Buffer {
  const { request, upstreamRequest, response, upstreamResponse, ...about } = content;
  const bodies = [request, upstreamRequest, response, upstreamResponse];
  const lengths: Lengths = bodies.map((body) =>
    body === null || body === 'same' ? body : [body.bytes.length, body.totalBytes],
  );
  const head = Buffer.from(JSON.stringify({ ...about, lengths } satisfies Head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(head.length);
  const kept = bodies.filter((body) => body !== null && body !== 'same').map(({ bytes }) => bytes);
  const text = zstdCompressSync(Buffer.concat([length, head, ...kept]));
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(content));
  const encrypted = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), encrypted]);
}

/** Throws where the content was not sealed for this call with this key, or was changed since. */
export function openContent(
  key: Uint8Array,
  call: Pick<CallContent, 'account' | 'workspace' | 'requestId'>,
  sealed: Uint8Array,
): CallContent {
  if (sealed.length < OVERHEAD_BYTES || sealed[0] !== VERSION) throw new Error('it is not of the form that we seal');
  const tagAt = 1 + NONCE_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, tagAt), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(call)).setAuthTag(sealed.subarray(tagAt, OVERHEAD_BYTES));
  const text = zstdDecompressSync(Buffer.concat([decipher.update(sealed.subarray(OVERHEAD_BYTES)), decipher.final()]));
  const bodiesAt = LENGTH_BYTES + text.readUInt32BE();
  const { lengths, ...about } = JSON.parse(text.toString('utf8', LENGTH_BYTES, bodiesAt)) as Head;
  let at = bodiesAt;
  const [request, upstreamRequest, response, upstreamResponse] = lengths.map((length): StoredBytes | 'same' | null => {
    if (length === null || length === 'same') return length;
    const [kept, totalBytes] = length;
    at += kept;
    // A copy with its own memory, so that it can be transferred to another thread.
    return { bytes: Uint8Array.from(text.subarray(at - kept, at)), totalBytes };
  });
  return {
    ...about,
    request: wanted(request),
    upstreamRequest: upstreamRequest ?? null,
    response: wanted(response),
    upstreamResponse: upstreamResponse === 'same' ? null : (upstreamResponse ?? null),
  };
}

function wanted(body: StoredBytes | 'same' | null | undefined): StoredBytes {
  if (body === undefined || body === null || body === 'same') throw new Error('a body is missing in what was sealed');
  return body;
}

/** Additional data: content that was moved to another account, workspace or call cannot be decrypted. */
function boundTo({ account, workspace, requestId }: Pick<CallContent, 'account' | 'workspace' | 'requestId'>): Buffer {
  return Buffer.from([account, workspace, requestId].join('|'));
}
