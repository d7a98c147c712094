/** Compresses and encrypts a call's content for the disk, bound to its call, and decrypts it. */
import { hkdfSync } from 'node:crypto';
import type { Secret } from '../../../lib/secret.ts';
import type { CallContent, StoredBytes } from '../../ports/content.ts';
import { openText, sealText } from './seal-text.ts';

const BODIES = ['request', 'upstreamRequest', 'response', 'upstreamResponse'] as const;

type Body = (typeof BODIES)[number];
/** For each body, in the order of `BODIES`: its bytes kept and in total; `same`: sent unchanged; null: no body. */
type Lengths = ReadonlyArray<readonly [kept: number, total: number] | 'same' | null>;
type Head = Omit<CallContent, Body> & { readonly lengths: Lengths };

/** Derives the key of all content, 32 bytes, from the master key. */
export function deriveContentKey(masterKey: Secret): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate call content v1', 32));
}

/** The content as it is stored: its members as the head, then its bodies. */
export function sealContent(key: Uint8Array, content: CallContent): Buffer {
  const { request, upstreamRequest, response, upstreamResponse, ...about } = content;
  const bodies = [request, upstreamRequest, response, upstreamResponse];
  const lengths: Lengths = bodies.map((body) =>
    body === null || body === 'same' ? body : [body.bytes.length, body.totalBytes],
  );
  const kept = bodies.filter((body) => body !== null && body !== 'same').map(({ bytes }) => bytes);
  return sealText(key, boundTo(content), { ...about, lengths } satisfies Head, kept);
}

/** Throws where the content was not sealed for this call with this key, or was changed since. */
export function openContent(
  key: Uint8Array,
  call: Pick<CallContent, 'account' | 'workspace' | 'requestId'>,
  sealed: Uint8Array,
): CallContent {
  const { head, bodies } = openText(key, boundTo(call), sealed);
  const { lengths, ...about } = head as Head;
  let at = 0;
  const [request, upstreamRequest, response, upstreamResponse] = lengths.map((length): StoredBytes | 'same' | null => {
    if (length === null || length === 'same') return length;
    const [kept, totalBytes] = length;
    at += kept;
    // A copy with its own memory, so that it can be transferred to another thread.
    return { bytes: Uint8Array.from(bodies.subarray(at - kept, at)), totalBytes };
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
