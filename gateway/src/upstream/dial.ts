/**
 * Opens connections to upstream origins: to public addresses only where required, and with TLS, whose certificate is
 * verified before the first byte of a request.
 */
import { lookup } from 'node:dns/promises';
import type { Socket } from 'bun';
import { isPublicAddress, parseIpAddress } from '../lib/ip-range.ts';
import { freeSpareDescriptor, lowestFreeDescriptor } from '../lib/open-files.ts';
import { type Connection, type DialFailure, discard, noteClosed, type Origin } from './connection.ts';

interface Dial {
  connection: Connection | null;
  settle(outcome: Connection | DialFailure): void;
}

/**
 * Opens a connection, to the exact address that was checked if it must be public. `settle` is called exactly once; the
 * returned function cancels (a socket that opens later is closed). With TLS the connection is handed over only after
 * the certificate was verified for the origin's host.
 */
export function dial(origin: Origin, settle: (outcome: Connection | DialFailure) => void): () => void {
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
          noteClosed(socket.data, null);
          socket.end();
        },
        close(socket, error) {
          if (socket.data === undefined) return;
          noteClosed(socket.data, error ?? null);
          attempt.settle({
            kind: origin.tls ? 'tls' : 'connect',
            message: `${origin.key} closed the connection at once`,
          });
        },
        error(socket, error) {
          if (socket.data !== undefined) noteClosed(socket.data, error);
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

function withoutDescriptor(origin: Origin): DialFailure {
  return { kind: 'no_descriptor', message: `cannot connect to ${origin.key}: no file descriptor is left` };
}

function refused(origin: Origin, error: unknown): DialFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'connect', message: `cannot connect to ${origin.key}: ${reason}` };
}

/** Every address of a host, as text. */
type LookUpHost = (host: string) => Promise<readonly string[]>;

const lookUpHost: LookUpHost = async (host) =>
  (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address);

/** A host that a console provider may not use, with a message for the operator. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * An address to connect to. One non-public address among several refuses the host, because the owner of the name
 * decides which one a look-up returns first.
 * @throws PrivateAddressError, or the error of the look-up.
 */
export async function findPublicAddress(host: string, lookUp: LookUpHost = lookUpHost): Promise<string> {
  const texts = parseIpAddress(host) === null ? await lookUp(host) : [host];
  const [first] = texts;
  if (first === undefined) throw new PrivateAddressError(`${host} has no address`);
  for (const text of texts) {
    const address = parseIpAddress(text);
    if (address === null || !isPublicAddress(address)) {
      throw new PrivateAddressError(`${host} has the address ${text}, which is not public`);
    }
  }
  return first;
}
