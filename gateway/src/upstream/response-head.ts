/**
 * Parses the head of a response, strictly: refuses anything ambiguous about where the body ends. Header lines are checked
 * at once, and copied out of the text only when they are read: providers send dozens, and few are read.
 */

/** Names are lower case; values are trimmed Latin-1 text without control characters. */
export interface ResponseHead {
  readonly status: number;
  /** A getter of parsed heads: `{ ...head }` does not have it, so a copy must name it. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly framing: 'none' | 'chunked' | 'length' | 'close';
  /** Bytes of the body if `framing` is `length`; else 0. */
  readonly lengthBytes: number;
  readonly keepAlive: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?$/;
/** Of nearly all answers. */
const OK_LINE = 'HTTP/1.1 200 OK';
const OK = [OK_LINE, '1', '200'];
const LENGTH = /^\d{1,15}$/;
const HEADER_LINES_MAX = 256;
const NO_TOKENS: readonly string[] = [];
/** Positions of a line: the start and end of its name, then of its value. */
const POSITIONS = 4;

class ParsedHead implements ResponseHead {
  readonly status: number;
  readonly framing: ResponseHead['framing'];
  readonly lengthBytes: number;
  readonly keepAlive: boolean;
  readonly #text: string;
  readonly #lines: readonly number[];

  constructor(text: string, lines: readonly number[], status: number, body: Body, keepAlive: boolean) {
    this.#text = text;
    this.#lines = lines;
    this.status = status;
    this.framing = body.framing;
    this.lengthBytes = body.lengthBytes;
    this.keepAlive = keepAlive;
  }

  get headers(): ResponseHead['headers'] {
    const headers: [string, string][] = [];
    for (let line = 0; line < this.#lines.length; line += POSITIONS) {
      headers.push([this.#part(line).toLowerCase(), this.#part(line + 2)]);
    }
    return headers;
  }

  /** The first value of a header, whose name is given in lower case. */
  find(name: string): string | null {
    for (let line = 0; line < this.#lines.length; line += POSITIONS) {
      if (isNamed(this.#text, this.#lines[line] ?? 0, this.#lines[line + 1] ?? 0, name)) return this.#part(line + 2);
    }
    return null;
  }

  #part(at: number): string {
    return this.#text.slice(this.#lines[at], this.#lines[at + 1]);
  }
}

/** Parses the head's text (without the blank line). Returns a string that describes the error if it is not HTTP/1.1. */
export function parseResponseHead(text: string): ResponseHead | string {
  let end = lineEnd(text, 0);
  const first = text.slice(0, end);
  const status = first === OK_LINE ? OK : STATUS_LINE.exec(first);
  if (status === null) return 'the status line is not HTTP/1.1';
  const lines: number[] = [];
  let length: string | null = null;
  let codings: string | null = null;
  let connection = '';
  while (end < text.length) {
    if (lines.length === HEADER_LINES_MAX * POSITIONS) return `more than ${HEADER_LINES_MAX} header lines`;
    const start = end + 2;
    end = lineEnd(text, start);
    const colon = nameEnd(text, start);
    const from = valueStart(text, colon + 1, end);
    const to = valueEnd(text, from, end);
    if (colon === start || text[colon] !== ':' || hasControl(text, from, to)) return 'a header line is malformed';
    lines.push(start, colon, from, to);
    if (isNamed(text, start, colon, 'content-length')) {
      const value = text.slice(from, to);
      if (length !== null && length !== value) return 'two different content-length headers';
      length = value;
    } else if (isNamed(text, start, colon, 'transfer-encoding')) {
      const value = text.slice(from, to).toLowerCase();
      codings = codings === null ? value : `${codings},${value}`;
    } else if (isNamed(text, start, colon, 'connection')) {
      connection += `,${text.slice(from, to).toLowerCase()}`;
    }
  }
  const code = Number(status[2]);
  const body = bodyOf(code, length, codings);
  if (typeof body === 'string') return body;
  // After 101 the peer speaks another protocol, which was not asked for.
  const keepAlive = code >= 200 && staysOpen(status[1] === '1', body, connection);
  return new ParsedHead(text, lines, code, body, keepAlive);
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\r\n', start);
  return end === -1 ? text.length : end;
}

/** By character code: whether a field name may contain it. RFC 9110 section 5.6.2. */
const NAME_CHARS = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(String.fromCharCode(code))),
);

/** The first character from `start` on that no field name contains. */
function nameEnd(text: string, start: number): number {
  let at = start;
  while (NAME_CHARS[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

const LOWER_A = 97;
const LOWER_Z = 122;
const CASE_BIT = 32;

/** Whether the name of a line, in any case, is `name` in lower case. */
function isNamed(text: string, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) {
    const wanted = name.charCodeAt(at);
    const code = text.charCodeAt(start + at);
    const isLetter = wanted >= LOWER_A && wanted <= LOWER_Z;
    if (code !== wanted && !(isLetter && (code | CASE_BIT) === wanted)) return false;
  }
  return true;
}

function valueStart(text: string, start: number, end: number): number {
  let from = start;
  while (from < end && isSpace(text.charCodeAt(from))) from += 1;
  return from;
}

function valueEnd(text: string, from: number, end: number): number {
  let to = end;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return to;
}

function hasControl(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((code < 32 && code !== 9) || code === 127) return true;
  }
  return false;
}

/** RFC 9110, 5.6.3: whatever else surrounds a value is a part of it. */
function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

type Body = Pick<ResponseHead, 'framing' | 'lengthBytes'>;

const NO_BODY: Body = { framing: 'none', lengthBytes: 0 };
const CHUNKED: Body = { framing: 'chunked', lengthBytes: 0 };
const UNTIL_CLOSE: Body = { framing: 'close', lengthBytes: 0 };

/** Where the body ends, or why that is unknown. */
function bodyOf(status: number, length: string | null, codings: string | null): Body | string {
  if (codings !== null && length !== null) return 'both transfer-encoding and content-length';
  if (status < 200 || status === 204 || status === 304) return NO_BODY;
  if (codings !== null) return codings.trim() === 'chunked' ? CHUNKED : 'an unknown transfer-encoding';
  if (length === null) return UNTIL_CLOSE;
  return LENGTH.test(length) ? { framing: 'length', lengthBytes: Number(length) } : 'content-length is not a number';
}

function staysOpen(isMinorOne: boolean, { framing }: Body, connection: string): boolean {
  if (framing === 'close') return false;
  const tokens = connection === '' ? NO_TOKENS : connection.split(',').map((token) => token.trim());
  return isMinorOne ? !tokens.includes('close') : tokens.includes('keep-alive');
}

/** A header of a response head, by its name in lower case; null if absent. */
export function headerOf(head: Pick<ResponseHead, 'headers'>, name: string): string | null {
  if (head instanceof ParsedHead) return head.find(name);
  for (const [header, value] of head.headers) if (header === name) return value;
  return null;
}

/** The coding of the body, in lower case; `identity`: none. */
export function codingOf(head: Pick<ResponseHead, 'headers'>): string {
  return headerOf(head, 'content-encoding')?.toLowerCase() ?? 'identity';
}
