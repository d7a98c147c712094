/**
 * Owns writing a route's result as JSON, packed where the browser takes that: the figures of a month are ten times smaller so.
 * What a request that changes something is answered stays unpacked: such answers hold secrets beside what the request said, and
 * the length of both packed together would tell of them.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsEncoding } from '../lib/accepts-encoding.ts';

/** Smaller answers travel in one packet as they are. */
const PACKED_FROM_BYTES = 1_024;

/** Packs on a thread of its own, so that no call waits for it. */
const pack = promisify(gzip);

export async function jsonReply(result: unknown, request: Request, headers: Headers): Promise<Response> {
  if (request.method !== 'GET') return Response.json(result, { headers });
  headers.append('vary', 'accept-encoding');
  const plain = Response.json(result, { headers });
  if (!acceptsEncoding(request.headers.get('accept-encoding'), 'gzip')) return plain;
  const bytes = await plain.arrayBuffer();
  if (bytes.byteLength < PACKED_FROM_BYTES) return new Response(bytes, { headers: plain.headers });
  const packedHeaders = new Headers(plain.headers);
  packedHeaders.set('content-encoding', 'gzip');
  return new Response(await pack(bytes), { headers: packedHeaders });
}
