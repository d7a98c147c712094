/**
 * Keeps the idle connections to upstream origins for reuse. Also parses the head of a response, strictly: refuses anything
 * ambiguous about where the body ends.
 */
import type { Socket } from 'bun';

/** `authority` is the value of the `host` header; `key` is unique per origin. */
export interface Origin {
  readonly key: string;
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  /** Every address of the host must be public, checked at each connection. */
  readonly publicOnly?: true;
}

/** The ways in which one HTTP attempt at an upstream can fail below the level of its protocol. */
export type UpstreamFailureKind =
  /** The request could not be authorized, and was not sent. */
  | 'authorization'
  | 'connect'
  /** The proxy of the operator is away or refuses; the request was not sent. */
  | 'proxy'
  | 'tls'
  | 'connect_timeout'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'total_timeout'
  | 'reset'
  | 'truncated'
  | 'malformed'
  | 'too_large'
  | 'aborted'
  /** This process has no free file descriptor. */
  | 'no_descriptor'
  /** The listener threw: the upstream is not at fault. */
  | 'fault';

/** Why no connection could be had. `message` is for the operator's log and the record; it contains no credential. */
export interface DialFailure {
  readonly kind: UpstreamFailureKind;
  readonly message: string;
}

/** A failed exchange. `message` is as in a `DialFailure`, without upstream bytes. */
export interface UpstreamFailure extends DialFailure {
  /** Bytes of the request may have gone out, so the upstream may have it. False: it can be sent again freely. */
  readonly sent: boolean;
  /**
   * A `reset` of a connection that had carried an exchange before, without a byte of an answer: the upstream closed it
   * while it was idle. On a fresh connection a reset is a fault of the upstream.
   */
  readonly stale: boolean;
}

/**
 * The present user of a connection. `onClosed(null)` is an orderly end (FIN); an error is a reset. Called at most once.
 */
export interface ConnectionUser {
  onBytes(bytes: Buffer): void;
  onDrain(): void;
  onClosed(error: Error | null): void;
}

export interface Connection {
  readonly origin: Origin;
  readonly socket: Socket<Connection>;
  user: ConnectionUser | null;
  /** Has carried an exchange before: its peer may have closed it in the meantime. */
  reused: boolean;
  closed: boolean;
  idleSinceMs: number;
  /** Of an earlier one: it serves its present exchange only. */
  readonly generation: number;
}

const IDLE_MS_MAX = 30_000;
const IDLE_PER_ORIGIN_MAX = 1024;
let generation = 0;
const idle = new Map<string, Connection[]>();
/** Those whose address was checked to be public. A connection that was not checked must never serve such an origin. */
const idlePublic = new Map<string, Connection[]>();

function poolOf({ publicOnly }: Origin): Map<string, Connection[]> {
  return publicOnly === true ? idlePublic : idle;
}

/** The most recently used idle connection, if any: it is the least likely to be stale. On the `performance.now()` clock. */
export function takeIdle(origin: Origin, nowMs: number): Connection | null {
  const pool = poolOf(origin);
  const connections = pool.get(origin.key);
  const connection = connections?.pop();
  if (connection === undefined) return null;
  if (nowMs - connection.idleSinceMs > IDLE_MS_MAX) {
    for (const old of [connection, ...(connections ?? [])]) old.socket.end();
    pool.delete(origin.key);
    return null;
  }
  return connection;
}

/** Returns a connection to the pool after an exchange that left it clean. On the `performance.now()` clock. */
export function returnIdle(connection: Connection, nowMs: number): void {
  connection.user = null;
  connection.reused = true;
  connection.idleSinceMs = nowMs;
  if (connection.closed) return;
  if (connection.generation !== generation) {
    connection.socket.end();
    return;
  }
  const pool = poolOf(connection.origin);
  const connections = pool.get(connection.origin.key);
  if (connections === undefined) pool.set(connection.origin.key, [connection]);
  else if (connections.length < IDLE_PER_ORIGIN_MAX) connections.push(connection);
  else connection.socket.end();
}

/** A new connection without a user. */
export function openedConnection(origin: Origin, socket: Socket<Connection>): Connection {
  return { origin, socket, user: null, reused: false, closed: false, idleSinceMs: 0, generation };
}

/** Lets no connection that exists now serve another request: the way to their origins has changed. */
export function retireConnections(): void {
  generation += 1;
  closeIdle();
}

/** Closes the idle connections to all origins; used at shutdown. */
export function closeIdle(): void {
  for (const pool of [idle, idlePublic]) {
    for (const connections of pool.values()) for (const connection of connections) connection.socket.end();
    pool.clear();
  }
}

/** The peer closed the connection, or an error did. Harmless if it is known. */
export function noteClosed(connection: Connection, error: Error | null): void {
  if (connection.closed) return;
  connection.closed = true;
  const user = connection.user;
  connection.user = null;
  if (user !== null) user.onClosed(error);
  else forget(connection);
}

/** Bytes arrived on an unused connection: the peer sends out of turn and cannot be trusted with another exchange. */
export function discard(connection: Connection): void {
  forget(connection);
  connection.closed = true;
  connection.socket.terminate();
}

function forget(connection: Connection): void {
  const connections = poolOf(connection.origin).get(connection.origin.key);
  const at = connections?.indexOf(connection) ?? -1;
  if (at !== -1) connections?.splice(at, 1);
}

/** Splits a base URL (already checked by the configuration) into its origin and its path without a trailing slash. */
export function parseBaseUrl(baseUrl: string): { readonly origin: Origin; readonly basePath: string } {
  const url = new URL(baseUrl);
  const tls = url.protocol === 'https:';
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port);
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return {
    origin: { key: url.origin, tls, host, port, authority: url.host },
    basePath: url.pathname.replace(/\/+$/, ''),
  };
}

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
/** Of nearly all answers. */
const OK_LINE = 'HTTP/1.1 200 OK';
const OK = [OK_LINE, '1', '200'];
const LENGTH = /^\d{1,15}$/;
const HEADER_LINES_MAX = 256;
const NO_TOKENS: readonly string[] = [];

/** Parses the head's text (without the blank line). Returns a string that describes the error if it is not HTTP/1.1. */
export function parseResponseHead(text: string): ResponseHead | string {
  let end = lineEnd(text, 0);
  const line = text.slice(0, end);
  const status = line === OK_LINE ? OK : STATUS_LINE.exec(line);
  if (status === null) return 'the status line is not HTTP/1.1';
  const headers: Array<readonly [string, string]> = [];
  let length: string | null = null;
  let codings: string | null = null;
  let connection = '';
  while (end < text.length) {
    if (headers.length === HEADER_LINES_MAX) return `more than ${HEADER_LINES_MAX} header lines`;
    const start = end + 2;
    end = lineEnd(text, start);
    const colon = nameEnd(text, start);
    const value = fieldValue(text, colon + 1, end);
    if (colon === start || text[colon] !== ':' || value === null) return 'a header line is malformed';
    const name = text.slice(start, colon).toLowerCase();
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

/** The text between the positions without white space around it; null if it contains a control character. */
function fieldValue(text: string, start: number, end: number): string | null {
  const from = text[start] === ' ' ? start + 1 : start;
  // Nearly every value follows one space and ends its line; then it is copied out of the text only when it is read.
  if (!isSpace(text.charCodeAt(from)) && !isSpace(text.charCodeAt(end - 1)))
    return hasControl(text, from, end) ? null : text.slice(from, end);
  const value = text.slice(from, end).trim();
  return hasControl(value, 0, value.length) ? null : value;
}

function hasControl(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((code < 32 && code !== 9) || code === 127) return true;
  }
  return false;
}

function isSpace(code: number): boolean {
  return code <= 32 || code === 160;
}

function frame(
  status: number,
  minorOne: boolean,
  headers: ResponseHead['headers'],
  length: string | null,
  codings: string | null,
  connection: string,
): ResponseHead | string {
  const tokens = connection === '' ? NO_TOKENS : connection.split(',').map((token) => token.trim());
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

/** A header of a response head; null if absent. */
export function headerOf(head: ResponseHead, name: string): string | null {
  for (const [header, value] of head.headers) if (header === name) return value;
  return null;
}
