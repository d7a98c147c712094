/**
 * Parses HTTP/1.1 requests from raw bytes: heads, lengths, chunked bodies. Strict, because it checks what the gateway
 * sends.
 */
import { concatBytes } from '../answer/body-part.ts';

/** A whole request. Names in `headers` are lower-case; `requestLine` and `headLines` are unchanged, as Latin-1 text. */
export interface FakeRequest {
  readonly method: string;
  readonly target: string;
  readonly requestLine: string;
  readonly headLines: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** The content of a buffer: a request and its length in bytes, nothing whole yet, or malformed bytes. */
export type ParsedRequest =
  | { readonly kind: 'request'; readonly request: FakeRequest; readonly taken: number }
  | { readonly kind: 'more'; readonly needed: number }
  | { readonly kind: 'malformed'; readonly reason: string };

const HEAD_BYTES_MAX = 1_048_576;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const END_OF_HEAD = new Uint8Array([13, 10, 13, 10]);

/** Returns the first value of a header by its lower-case name. */
export function headerOf(request: Pick<FakeRequest, 'headers'>, name: string): string | null {
  return request.headers.find(([known]) => known === name)?.[1] ?? null;
}

function malformed(reason: string): ParsedRequest {
  return { kind: 'malformed', reason };
}

/** Parses header lines; a string is the reason why they are malformed. */
function parseHeaders(lines: readonly string[]): [string, string][] | string {
  const headers: [string, string][] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon < 1 || !TOKEN.test(name)) return `header line ${JSON.stringify(line)} has no valid name before a colon`;
    const value = line.slice(colon + 1).trim();
    if (/[\0\r\n]/.test(value)) return `header ${name} has a control character in its value`;
    headers.push([name.toLowerCase(), value]);
  }
  return headers;
}

/** A decoded chunked body; `needed` 0 means that only more bytes can tell. */
function parseChunked(bytes: Buffer, from: number): { body: Uint8Array; end: number } | { needed: number } | string {
  const pieces: Uint8Array[] = [];
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at, 'latin1');
    if (lineEnd < 0) return { needed: bytes.byteLength + 1 };
    const size = /^([0-9a-fA-F]{1,8})(;.*)?$/.exec(bytes.toString('latin1', at, lineEnd))?.[1];
    if (size === undefined)
      return `chunk size line ${JSON.stringify(bytes.toString('latin1', at, lineEnd))} is not hexadecimal`;
    const length = Number.parseInt(size, 16);
    const start = lineEnd + 2;
    if (length === 0) {
      if (bytes.byteLength < start + 2) return { needed: start + 2 };
      if (bytes.toString('latin1', start, start + 2) !== '\r\n')
        return 'trailers after the last chunk are not expected here';
      return { body: concatBytes(pieces), end: start + 2 };
    }
    if (bytes.byteLength < start + length + 2) return { needed: start + length + 2 };
    if (bytes.toString('latin1', start + length, start + length + 2) !== '\r\n')
      return 'a chunk is not followed by CRLF';
    pieces.push(Uint8Array.prototype.slice.call(bytes, start, start + length));
    at = start + length + 2;
  }
}

/** Parses the first request in `bytes`. `more.needed` is the minimum buffer length for another attempt. */
export function parseRequest(bytes: Buffer): ParsedRequest {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) {
    if (bytes.byteLength > HEAD_BYTES_MAX) return malformed(`the head is longer than ${HEAD_BYTES_MAX} bytes`);
    return { kind: 'more', needed: bytes.byteLength + 1 };
  }
  const [requestLine = '', ...headLines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const [method, target, version, ...others] = requestLine.split(' ');
  if (method === undefined || target === undefined || version !== 'HTTP/1.1' || others.length > 0) {
    return malformed(`request line ${JSON.stringify(requestLine)} is not METHOD SP target SP HTTP/1.1`);
  }
  if (!TOKEN.test(method) || target === '')
    return malformed(`request line ${JSON.stringify(requestLine)} is not valid`);
  const headers = parseHeaders(headLines);
  if (typeof headers === 'string') return malformed(headers);
  const named = (name: string): string[] => headers.filter(([known]) => known === name).map(([, value]) => value);
  if (named('host').length !== 1) return malformed(`${named('host').length} host headers, expected exactly one`);
  const lengths = named('content-length');
  const encodings = named('transfer-encoding');
  if (lengths.length + encodings.length > 1) return malformed('more than one content-length or transfer-encoding');
  const bodyStart = headEnd + END_OF_HEAD.byteLength;
  if (encodings[0] !== undefined) {
    if (encodings[0].toLowerCase() !== 'chunked') return malformed(`transfer-encoding ${encodings[0]} is not chunked`);
    const chunked = parseChunked(bytes, bodyStart);
    if (typeof chunked === 'string') return malformed(chunked);
    if ('needed' in chunked) return { kind: 'more', needed: chunked.needed };
    return {
      kind: 'request',
      request: { method, target, requestLine, headLines, headers, body: chunked.body },
      taken: chunked.end,
    };
  }
  const length = lengths[0] ?? '0';
  if (!/^[0-9]{1,12}$/.test(length))
    return malformed(`content-length ${JSON.stringify(length)} is not a number of bytes`);
  const end = bodyStart + Number(length);
  if (bytes.byteLength < end) return { kind: 'more', needed: end };
  const body = Uint8Array.prototype.slice.call(bytes, bodyStart, end);
  return { kind: 'request', request: { method, target, requestLine, headLines, headers, body }, taken: end };
}

/** Collects bytes and returns requests in order of arrival. */
interface RequestBuffer {
  /** Copies the bytes. */
  add(bytes: Uint8Array): void;
  /** Removes and returns the next whole request; `malformed` empties the buffer; null if more must arrive first. */
  next(): Exclude<ParsedRequest, { kind: 'more' }> | null;
  heldBytes(): number;
}

/** An empty buffer. */
export function createRequestBuffer(): RequestBuffer {
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  let neededBytes = 1;

  const keep = (rest: Buffer | null): void => {
    chunks = rest === null || rest.byteLength === 0 ? [] : [rest];
    heldBytes = rest?.byteLength ?? 0;
    neededBytes = 1;
  };

  return {
    add: (bytes) => {
      chunks.push(Buffer.from(bytes));
      heldBytes += bytes.byteLength;
    },
    next: () => {
      if (heldBytes < neededBytes) return null;
      const held = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, heldBytes);
      const parsed = parseRequest(held);
      if (parsed.kind === 'more') {
        chunks = [held];
        neededBytes = parsed.needed;
        return null;
      }
      keep(parsed.kind === 'request' ? held.subarray(parsed.taken) : null);
      return parsed;
    },
    heldBytes: () => heldBytes,
  };
}
