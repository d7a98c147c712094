/** Keeps the idle connections to upstream origins for reuse. */
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
  if (connections === undefined) return null;
  // The oldest are first. Under a trickle of calls only the newest would be used, and the others would stay open.
  for (let old = connections[0]; old !== undefined && nowMs - old.idleSinceMs > IDLE_MS_MAX; old = connections[0]) {
    connections.shift();
    old.socket.end();
  }
  if (connections.length === 0) pool.delete(origin.key);
  return connections.pop() ?? null;
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

/** Bun reports an exception of our own listener as a socket error; system errors have a code. */
export function isOurFault(error: Error): boolean {
  return !('code' in error);
}

/** The error in parentheses, for the end of a message; empty without one. */
export function because(error: Error | null): string {
  return error === null ? '' : ` (${error.message})`;
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
