/** Parses an HTTP/1.1 response head strictly: refuses anything ambiguous about where the body ends. */

/** Names are lower case; values are trimmed Latin-1 text without control characters. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly framing: 'none' | 'chunked' | 'length' | 'close';
  /** Bytes of the body if `framing` is `length`; else 0. */
  readonly lengthBytes: number;
  readonly keepAlive: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?$/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LENGTH = /^\d{1,15}$/;
const HEADER_LINES_MAX = 256;

/** Parses the head's text (without the blank line). Returns a string that describes the error if it is not HTTP/1.1. */
export function parseResponseHead(text: string): ResponseHead | string {
  const lines = text.split('\r\n');
  const status = STATUS_LINE.exec(lines[0] ?? '');
  if (status === null) return 'the status line is not HTTP/1.1';
  if (lines.length - 1 > HEADER_LINES_MAX) return `more than ${HEADER_LINES_MAX} header lines`;
  const headers: Array<readonly [string, string]> = [];
  let length: string | null = null;
  let codings: string | null = null;
  let connection = '';
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (!FIELD_NAME.test(name) || hasControl(value)) return 'a header line is malformed';
    if (name === 'content-length') {
      if (length !== null && length !== value) return 'two different content-length headers';
      length = value;
    } else if (name === 'transfer-encoding') {
      codings = codings === null ? value.toLowerCase() : `${codings},${value.toLowerCase()}`;
    } else if (name === 'connection') {
      connection += `,${value.toLowerCase()}`;
    }
    headers.push([name, value]);
  }
  return frame(Number(status[2]), status[1] === '1', headers, length, codings, connection);
}

function frame(
  status: number,
  minorOne: boolean,
  headers: ResponseHead['headers'],
  length: string | null,
  codings: string | null,
  connection: string,
): ResponseHead | string {
  const tokens = connection.split(',').map((token) => token.trim());
  const keepAlive = minorOne ? !tokens.includes('close') : tokens.includes('keep-alive');
  if (codings !== null && length !== null) return 'both transfer-encoding and content-length';
  if (status < 200 || status === 204 || status === 304) {
    return { status, headers, framing: 'none', lengthBytes: 0, keepAlive };
  }
  if (codings !== null) {
    if (codings.trim() !== 'chunked') return 'an unknown transfer-encoding';
    return { status, headers, framing: 'chunked', lengthBytes: 0, keepAlive };
  }
  if (length === null) return { status, headers, framing: 'close', lengthBytes: 0, keepAlive: false };
  if (!LENGTH.test(length)) return 'content-length is not a number';
  return { status, headers, framing: 'length', lengthBytes: Number(length), keepAlive };
}

function hasControl(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if ((code < 32 && code !== 9) || code === 127) return true;
  }
  return false;
}

/** A header of a response head; null if absent. */
export function headerOf(head: ResponseHead, name: string): string | null {
  for (const [header, value] of head.headers) if (header === name) return value;
  return null;
}
