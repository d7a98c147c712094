/**
 * Opens every connection that leaves the gateway: to public addresses only where required, through the operator's proxy
 * where one is set, and with TLS, whose certificate is verified for the origin before the first byte of a request.
 */
import { lookup } from 'node:dns/promises';
import { setTimeout } from 'node:timers/promises';
import type { Socket, SocketHandler } from 'bun';
import { isPublicAddress, parseIpAddress } from '../lib/ip-range.ts';
import { OutOfDescriptors, withDescriptors } from '../lib/open-files.ts';
import {
  type Connection,
  type DialFailure,
  discard,
  noteClosed,
  type Origin,
  openedConnection,
  retireConnections,
} from './connection.ts';
import { type EgressProxy, isDirect, readConnectAnswer, renderConnect } from './egress-proxy.ts';
import { createLookUp, type LookUpHost } from './look-up.ts';

/** The runtime tries up to four addresses of a name at once (1.4.5). */
const DESCRIPTORS_TO_CONNECT = 4;
/** For the system's files and a question to the name server. */
const DESCRIPTORS_TO_LOOK_UP = 2;

let proxy: EgressProxy | null = null;

/** Sets the proxy of all later connections to https origins; null: none. Connections that exist serve no further request. */
export function setEgressProxy(next: EgressProxy | null): void {
  if (next === proxy) return;
  proxy = next;
  retireConnections();
}

/**
 * Opens a connection, to the exact address that was checked if it must be public. `settle` is called exactly once; the
 * returned function cancels (a socket that opens later is closed). With TLS the connection is handed over only after
 * the certificate was verified for the origin's host.
 */
export function dial(origin: Origin, settle: (outcome: Connection | DialFailure) => void): () => void {
  const attempt = new Dial(origin, settle);
  attempt.start();
  return () => attempt.cancel();
}

class Dial {
  readonly #origin: Origin;
  readonly #settle: (outcome: Connection | DialFailure) => void;
  #over = false;
  #socket: Pick<Socket, 'terminate'> | null = null;

  constructor(origin: Origin, settle: (outcome: Connection | DialFailure) => void) {
    this.#origin = origin;
    this.#settle = settle;
  }

  start(): void {
    const { host, port, tls, publicOnly } = this.#origin;
    const via = proxy !== null && tls && !isDirect(proxy.direct, host, port) ? proxy : null;
    if (publicOnly === true) {
      findPublicAddress(host).then(
        (address) => this.#go(via, address),
        (error: unknown) => this.#failBy('connect', error),
      );
    } else if (via === null) this.#reach(host);
    else {
      isPrivateHost(host).then(
        (isPrivate) => this.#go(isPrivate ? null : via, host),
        (error: unknown) => this.#failBy('connect', error),
      );
    }
  }

  cancel(): void {
    this.#over = true;
    this.#socket?.terminate();
  }

  #go(via: EgressProxy | null, host: string): void {
    if (this.#over) return;
    if (via === null) this.#reach(host);
    else this.#tunnel(via, host);
  }

  #end(outcome: Connection | DialFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#settle(outcome);
  }

  #fail(kind: DialFailure['kind'], reason: string): void {
    this.#end({ kind, message: `cannot connect to ${this.#origin.key}: ${reason}` });
  }

  /** Whose failure it is says the error: this process may have lacked descriptors. */
  #failBy(kind: 'connect' | 'proxy', error: unknown): void {
    const reason = reasonOf(error);
    if (error instanceof OutOfDescriptors) this.#fail('no_descriptor', reason);
    else this.#fail(kind, kind === 'proxy' ? `the proxy cannot be reached: ${reason}` : reason);
  }

  #reach(hostname: string): void {
    const { tls, port } = this.#origin;
    this.#connect('connect', () =>
      Bun.connect<Connection>({
        hostname,
        port,
        ...(tls ? { tls: this.#tls() } : {}),
        socket: this.#handlers(),
      }),
    );
  }

  #tls() {
    return { serverName: this.#origin.host, rejectUnauthorized: true } as const;
  }

  #connect(kind: 'connect' | 'proxy', open: () => Promise<unknown>): void {
    const openNow = () => (this.#over ? Promise.reject(new Error('it was cancelled')) : open());
    withDescriptors(DESCRIPTORS_TO_CONNECT, openNow).catch((error: unknown) => this.#failBy(kind, error));
  }

  /** The events of a connection to the origin, from its opening on. */
  #handlers(): SocketHandler<Connection> {
    const { tls, key } = this.#origin;
    return {
      open: (socket) => {
        socket.data = openedConnection(this.#origin, socket);
        this.#socket = socket;
        if (this.#over) socket.terminate();
        else if (!tls) {
          socket.setNoDelay(true);
          this.#end(socket.data);
        }
      },
      handshake: (socket, verified, error) => {
        if (this.#over) socket.terminate();
        else if (verified && error === null) this.#end(socket.data);
        else {
          this.#end({ kind: 'tls', message: `TLS with ${key} failed: ${error?.message ?? 'not verified'}` });
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
      close: (socket, error) => {
        if (socket.data === undefined) return;
        noteClosed(socket.data, error ?? null);
        this.#end({ kind: tls ? 'tls' : 'connect', message: `${key} closed the connection at once` });
      },
      error(socket, error) {
        if (socket.data !== undefined) noteClosed(socket.data, error);
      },
      // The connection's promise reports it too.
      connectError() {},
    };
  }

  /** Asks the proxy for a tunnel to the host, a name or a checked address, and begins TLS with the origin in it. */
  #tunnel(via: EgressProxy, host: string): void {
    const authority = `${host.includes(':') ? `[${host}]` : host}:${this.#origin.port}`;
    let answer: Buffer = Buffer.alloc(0);
    let isOpen = false;
    const refuse = (socket: Socket<undefined>, kind: 'connect' | 'proxy', reason: string) => {
      this.#fail(kind, reason);
      socket.terminate();
    };
    const lost = (reason: string) => {
      if (!isOpen) this.#fail('proxy', `the proxy ${reason}`);
    };
    const handlers: SocketHandler<undefined> = {
      open: (socket) => {
        this.#socket = socket;
        if (this.#over) socket.terminate();
        else {
          socket.setNoDelay(true);
          const request = renderConnect(via, authority);
          if (socket.write(request) < request.length) refuse(socket, 'proxy', 'the proxy takes no request');
        }
      },
      data: (socket, bytes) => {
        // Once the tunnel is open, the runtime shows its encrypted bytes here too.
        if (isOpen || this.#over) return;
        answer = Buffer.concat([answer, bytes]);
        const status = readConnectAnswer(answer);
        if (status === 'wait') return;
        if (status === null) refuse(socket, 'proxy', 'the proxy does not speak HTTP');
        else if (status < 200 || status > 299) refuse(socket, ...explainRefusal(status));
        else {
          isOpen = true;
          socket.upgradeTLS<Connection>({ tls: this.#tls(), socket: this.#handlers() });
        }
      },
      end: () => lost('closed the connection'),
      close: () => lost('closed the connection'),
      error: (_socket, error) => lost(`failed: ${error.message}`),
      connectError() {},
    };
    this.#connect('proxy', () => Bun.connect<undefined>({ hostname: via.host, port: via.port, socket: handlers }));
  }
}

/** A gateway error of the proxy is about the origin, any other refusal about the operator's proxy. */
function explainRefusal(status: number): ['connect' | 'proxy', string] {
  if (status === 502 || status === 503 || status === 504) {
    return ['connect', `the proxy does not reach it (it answered ${status})`];
  }
  if (status === 407) return ['proxy', 'the proxy wants other credentials (it answered 407)'];
  return ['proxy', `the proxy refuses (it answered ${status})`];
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As the system resolves the operator's hosts, which may have names of its own. */
const lookUpOwn: LookUpHost = (host) =>
  withDescriptors(DESCRIPTORS_TO_LOOK_UP, async () =>
    (await lookup(host, { all: true, order: 'ipv4first' })).map(({ address }) => address),
  );

const askNameServers = createLookUp();
const lookUpEntered: LookUpHost = (host) => withDescriptors(DESCRIPTORS_TO_LOOK_UP, () => askNameServers(host));

/** A host that a console provider may not use, with a message for the operator. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError';
}

/**
 * An address to connect to. One non-public address among several refuses the host, because the owner of the name
 * decides which one a look-up returns first.
 * @throws PrivateAddressError, OutOfDescriptors, or the error of the look-up.
 */
export async function findPublicAddress(host: string, lookUp: LookUpHost = lookUpEntered): Promise<string> {
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

const LOOK_UP_MS_MAX = 1_000;
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1_000;

/**
 * Returns a function that tells whether a host is this machine or on a private network, which no proxy leads to; remembered
 * for a minute. While a name cannot be resolved here within a second, what was known of it stands; of another one it is
 * assumed that it is public: behind many a proxy only the proxy can resolve. The function rejects with OutOfDescriptors.
 */
export function rememberPrivateHosts(
  lookUp: LookUpHost = lookUpOwn,
  steadyMs: () => number = () => performance.now(),
): (host: string) => Promise<boolean> {
  const hosts = new Map<string, { readonly isPrivate: boolean; readonly untilMs: number }>();
  return async (host) => {
    if (/(^|\.)localhost$/i.test(host)) return true;
    const nowMs = steadyMs();
    const known = hosts.get(host);
    if (known !== undefined && known.untilMs > nowMs) return known.isPrivate;
    const found = await Promise.race([
      findPublicAddress(host, lookUp).then(
        () => false,
        (error: unknown) => {
          if (error instanceof OutOfDescriptors) throw error;
          return error instanceof PrivateAddressError ? true : null;
        },
      ),
      setTimeout(LOOK_UP_MS_MAX, null, { ref: false }),
    ]);
    const isPrivate = found ?? known?.isPrivate ?? false;
    if (hosts.size >= REMEMBERED_MAX) hosts.clear();
    hosts.set(host, { isPrivate, untilMs: nowMs + REMEMBERED_MS });
    return isPrivate;
  };
}

const isPrivateHost = rememberPrivateHosts();
