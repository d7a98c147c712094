/**
 * Manages sockets to upstream origins: connecting, TLS before the first byte, reuse of idle ones. Knows nothing of
 * HTTP.
 */
import type { Socket } from 'bun';
import { freeSpareDescriptor, lowestFreeDescriptor } from '../lib/open-files.ts';
import type { UpstreamFailure } from './failure.ts';
import type { Origin } from './origin.ts';
import { findPublicAddress } from './public-host.ts';

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
}

interface Dial {
  connection: Connection | null;
  settle(outcome: Connection | UpstreamFailure): void;
}

const IDLE_MS_MAX = 30_000;
const IDLE_PER_ORIGIN_MAX = 1024;
const idle = new Map<string, Connection[]>();

/** The most recently used idle connection, if any: it is the least likely to be stale. */
export function takeIdle(origin: Origin): Connection | null {
  const connections = idle.get(origin.key);
  const connection = connections?.pop();
  if (connection === undefined) return null;
  if (performance.now() - connection.idleSinceMs > IDLE_MS_MAX) {
    for (const old of [connection, ...(connections ?? [])]) old.socket.end();
    idle.delete(origin.key);
    return null;
  }
  return connection;
}

/** Returns a connection to the pool after an exchange that left it clean. */
export function returnUnused(connection: Connection): void {
  connection.user = null;
  connection.reused = true;
  connection.idleSinceMs = performance.now();
  if (connection.closed) return;
  const connections = idle.get(connection.origin.key);
  if (connections === undefined) idle.set(connection.origin.key, [connection]);
  else if (connections.length < IDLE_PER_ORIGIN_MAX) connections.push(connection);
  else connection.socket.end();
}

/** Closes the idle connections to all origins; used at shutdown. */
export function closeIdle(): void {
  for (const connections of idle.values()) for (const connection of connections) connection.socket.end();
  idle.clear();
}

/**
 * Opens a connection, to the exact address that was checked if it must be public. `settle` is called exactly once; the
 * returned function cancels (a socket that opens later is closed). With TLS the connection is handed over only after
 * the certificate was verified for the origin's host.
 */
export function dial(origin: Origin, settle: (outcome: Connection | UpstreamFailure) => void): () => void {
  let over = false;
  const attempt: Dial = {
    connection: null,
    settle(outcome) {
      if (over) return;
      over = true;
      settle(outcome);
    },
  };
  const opened = (socket: Socket<Connection>): Connection => {
    const connection = { origin, socket, user: null, reused: false, closed: false, idleSinceMs: 0 };
    attempt.connection = connection;
    return connection;
  };
  const connect = (hostname: string) =>
    Bun.connect<Connection>({
      hostname,
      port: origin.port,
      ...(origin.tls ? { tls: { serverName: origin.host, rejectUnauthorized: true } } : {}),
      socket: {
        open(socket) {
          socket.data = opened(socket);
          if (over) socket.terminate();
          else if (!origin.tls) {
            socket.setNoDelay(true);
            attempt.settle(socket.data);
          }
        },
        handshake(socket, verified, error) {
          if (over) socket.terminate();
          else if (verified && error === null) attempt.settle(socket.data);
          else {
            attempt.settle({
              kind: 'tls',
              message: `TLS with ${origin.key} failed: ${error?.message ?? 'not verified'}`,
            });
            socket.terminate();
          }
        },
        data(socket, bytes) {
          const user = socket.data.user;
          if (user !== null) user.onBytes(bytes);
          else discard(socket.data);
        },
        drain(socket) {
          socket.data.user?.onDrain();
        },
        end(socket) {
          closed(socket.data, null);
          socket.end();
        },
        close(socket, error) {
          if (socket.data === undefined) return;
          closed(socket.data, error ?? null);
          attempt.settle({
            kind: origin.tls ? 'tls' : 'connect',
            message: `${origin.key} closed the connection at once`,
          });
        },
        error(socket, error) {
          if (socket.data !== undefined) closed(socket.data, error);
        },
        // The connection's promise reports it too.
        connectError() {},
      },
    });
  /** Connects to one address; retries once if only a descriptor was missing and a reserved one could be freed. */
  const reach = (hostname: string, isAgain = false): void => {
    connect(hostname).catch((error: unknown) => {
      // The runtime reports a lack of descriptors as a refused connection (1.4.5).
      if (over || lowestFreeDescriptor() !== null) attempt.settle(refused(origin, error));
      else if (!isAgain && freeSpareDescriptor()) reach(hostname, true);
      else attempt.settle(withoutDescriptor(origin));
    });
  };
  if (origin.publicOnly === true) {
    findPublicAddress(origin.host).then(
      (address) => over || reach(address),
      (error: unknown) => attempt.settle(refused(origin, error)),
    );
  } else reach(origin.host);
  return () => {
    over = true;
    attempt.connection?.socket.terminate();
  };
}

function withoutDescriptor(origin: Origin): UpstreamFailure {
  return { kind: 'no_descriptor', message: `cannot connect to ${origin.key}: no file descriptor is left` };
}

function refused(origin: Origin, error: unknown): UpstreamFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'connect', message: `cannot connect to ${origin.key}: ${reason}` };
}

function closed(connection: Connection, error: Error | null): void {
  if (connection.closed) return;
  connection.closed = true;
  const user = connection.user;
  connection.user = null;
  if (user !== null) user.onClosed(error);
  else forget(connection);
}

/** Bytes arrived on an unused connection: the peer sends out of turn and cannot be trusted with another exchange. */
function discard(connection: Connection): void {
  forget(connection);
  connection.closed = true;
  connection.socket.terminate();
}

function forget(connection: Connection): void {
  const connections = idle.get(connection.origin.key);
  const at = connections?.indexOf(connection) ?? -1;
  if (at !== -1) connections?.splice(at, 1);
}
