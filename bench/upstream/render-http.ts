/** Renders the HTTP framing of the upstream's prepared answers. */

export const STREAM_HEAD: Buffer = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
    'x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n',
);

export const LAST_CHUNK: Buffer = Buffer.from('0\r\n\r\n');

/** A complete JSON response: head and body. */
export function renderJson(status: string, body: unknown): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** One piece of a stream, as an HTTP chunk. */
export function renderChunk(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
