/** Encodes frames of an AWS event stream for tests, with an own checksum. */

export type HeaderValue = string | boolean | { readonly type: number; readonly bytes: Uint8Array };

/** One frame; a text is a header of type 7, a boolean of type 0 or 1. */
export function encodeFrame(headers: Readonly<Record<string, HeaderValue>>, payload: string | Uint8Array): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)));
  const body = Buffer.from(payload as Uint8Array);
  const frame = Buffer.alloc(16 + head.length + body.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(checksum(frame.subarray(0, 8)), 8);
  head.copy(frame, 12);
  body.copy(frame, 12 + head.length);
  frame.writeUInt32BE(checksum(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

/** An event with a JSON payload, as Bedrock writes it. */
export function encodeEvent(type: string, payload: object): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
  return encodeFrame(headers, JSON.stringify(payload));
}

export function encodeException(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return encodeFrame(headers, JSON.stringify({ message }));
}

/** A messages event as Bedrock wraps it. */
export function encodeChunk(event: object | string, padding: string = 'abc'): Buffer {
  const text = typeof event === 'string' ? event : JSON.stringify(event);
  return encodeEvent('chunk', { bytes: Buffer.from(text).toString('base64'), p: padding });
}

function encodeHeader(name: string, value: HeaderValue): Buffer {
  const key = Buffer.from(name);
  const start = Buffer.from([key.length, ...key]);
  if (typeof value === 'boolean') return Buffer.concat([start, Buffer.from([value ? 0 : 1])]);
  if (typeof value !== 'string') return Buffer.concat([start, Buffer.from([value.type]), value.bytes]);
  const text = Buffer.from(value);
  return Buffer.concat([start, Buffer.from([7, text.length >> 8, text.length & 0xff]), text]);
}

/** CRC-32 of IEEE 802.3, bit by bit. */
function checksum(bytes: Uint8Array): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0);
  }
  return (remainder ^ 0xffffffff) >>> 0;
}
