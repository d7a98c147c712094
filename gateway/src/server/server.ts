/**
 * Runs the HTTP server: its listening socket, time limits and size limits, each request's connection, and the closing of
 * idle connections where file descriptors run short.
 */
import type { Server } from 'bun';
import type { DescriptorBounds } from '../admission/capacity.ts';
import { NO_SNIFF } from '../call/deliver/reply.ts';
import type { CallDeps } from '../call/deps.ts';
import { type ArrivingBody, arrivingBodies } from '../call/request/read-body.ts';
import { CallFailure, invalidRequest } from '../errors/call-failure.ts';
import { countDescriptors, keepSpareDescriptors, lowestFreeDescriptor } from '../lib/open-files.ts';
import { answerRequest, clientAddress, isForwardedHttps, type Origin, type ServerDeps } from './answer-request.ts';
import type { TlsPair } from './tls-files.ts';
import type { ResponsesSocket } from './websocket/responses-socket.ts';
import { SocketSet } from './websocket/socket-set.ts';

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Stops accepting; resolves when the last reply was sent, or at once with `now`. */
  stop(now: boolean): Promise<void>;
  /** Time of the last request, on the `performance.now()` clock. */
  lastRequestMs(): number;
  /** Closes client connections without a request. */
  closeIdle(): void;
  /** Closes each WebSocket once it has no response. */
  closeSockets(): void;
  /** Serves new connections with another certificate; others keep theirs. Throws if it is unusable: nothing changes. */
  renewTls(pair: TlsPair): void;
}

/** Seconds in which a new connection must send its headers. The runtime requires 5 to 255, and never 0. */
const HEADERS_WITHIN_SECONDS = 10;
/**
 * The gateway counts body bytes as they arrive, so that a refusal has a body; this keeps the runtime's own limit out of
 * the way.
 */
const RUNTIME_BODY_BYTES_MAX = 2 ** 40;

/** `tls` null: plain HTTP. Throws an Error with a remedy if the address is taken or the certificate is unusable. */
export function startHttpServer(host: string, port: number, parts: ServerDeps, tls: TlsPair | null): HttpServer {
  let lastMs = Number.NEGATIVE_INFINITY;
  const onRequest = () => {
    lastMs = performance.now();
  };
  const sockets = new SocketSet(parts.deps);
  const binding = { parts, sockets, onRequest };
  // Servers with certificates share their port, so that one can take it over: not with another process's.
  if (tls !== null && port !== 0) void listen(host, port, binding, null).stop(true);
  let server = listen(host, port, binding, tls);
  const boundPort = server.port ?? port;
  /** Those before a change of the certificate, until their last connection is closed. */
  const former = new Set<Server<ResponsesSocket>>();
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls === null ? 'http' : 'https'}://${shown === '0.0.0.0' || shown === '[::]' ? '127.0.0.1' : shown}:${boundPort}`,
    port: boundPort,
    stop: async (now) => void (await Promise.all([server, ...former].map((one) => one.stop(now)))),
    lastRequestMs: () => lastMs,
    closeIdle() {
      for (const one of [server, ...former]) one.closeIdleConnections();
      sockets.closeIdle();
    },
    closeSockets: () => sockets.goAway(),
    renewTls(pair) {
      // The runtime changes no certificate of a server (1.4.5): another one takes its port over.
      const next = listen(host, boundPort, binding, pair);
      const old = server;
      server = next;
      former.add(old);
      void old.stop(false).then(() => former.delete(old));
    },
  };
}

interface Binding {
  readonly parts: ServerDeps;
  readonly sockets: SocketSet;
  readonly onRequest: () => void;
}

/** Bytes that a WebSocket may owe its client: answers to pings and messages outside a response. */
const SOCKET_BACKLOG_BYTES_MAX = 1024 * 1024;

function listen(
  hostname: string,
  port: number,
  { parts, sockets, onRequest }: Binding,
  tls: TlsPair | null,
): Server<ResponsesSocket> {
  const isTls = tls !== null;
  const { bodyBytesMax, idleConnectionTimeoutMs } = parts.deps.settings.config.limits;
  try {
    return Bun.serve({
      hostname,
      port,
      ...(isTls ? { tls: { ...tls }, reusePort: true } : {}),
      idleTimeout: HEADERS_WITHIN_SECONDS,
      maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
      fetch(request, server) {
        onRequest();
        const answer = answerRequest(request, new HttpOrigin(server, sockets, request, parts.deps, isTls), parts);
        return parts.deps.draining && answer !== undefined ? lastOfConnection(answer) : answer;
      },
      websocket: {
        // Without compression no message is larger than what arrived.
        perMessageDeflate: false,
        maxPayloadLength: bodyBytesMax,
        idleTimeout: Math.ceil(idleConnectionTimeoutMs / 1_000),
        backpressureLimit: SOCKET_BACKLOG_BYTES_MAX,
        closeOnBackpressureLimit: true,
        open: (socket) => socket.data.open(socket),
        message: (socket, message) => socket.data.onMessage(message),
        drain: (socket) => socket.data.onDrain(),
        close: (socket) => socket.data.onClose(),
      },
      error(fault) {
        parts.deps.log.fault('', 'a request failed', fault);
        return new Response(null, { status: 500, headers: NO_SNIFF });
      },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `cannot listen on ${hostname}:${port} (${reason}). Choose another address with --host and --port, or HOST and PORT${isTls ? ', and check the files of server.tls' : ''}`,
      { cause },
    );
  }
}

/** Tells the client that the connection ends with this reply. */
async function lastOfConnection(answer: Response | Promise<Response>): Promise<Response> {
  const reply = await answer;
  reply.headers.set('connection', 'close');
  return reply;
}

/** The client's side of one request. */
class HttpOrigin implements Origin {
  readonly #server: Server<ResponsesSocket>;
  readonly #sockets: SocketSet;
  readonly #request: Request;
  readonly #deps: Pick<CallDeps, 'settings'>;
  readonly #isTls: boolean;

  /**
   * Lifts the idle limit: it would cut a request that waits for its model. Bodies and slow readers have their own
   * limits.
   */
  constructor(
    server: Server<ResponsesSocket>,
    sockets: SocketSet,
    request: Request,
    deps: Pick<CallDeps, 'settings'>,
    isTls: boolean,
  ) {
    this.#isTls = isTls;
    this.#server = server;
    this.#sockets = sockets;
    this.#request = request;
    this.#deps = deps;
    server.timeout(request, 0);
  }

  address(): string | null {
    const forwardedFor = this.#request.headers.get('x-forwarded-for');
    return clientAddress(this.peer(), forwardedFor, this.#deps.settings.config.server.trustedProxies);
  }

  isHttps(): boolean {
    if (this.#isTls) return true;
    const forwardedProto = this.#request.headers.get('x-forwarded-proto');
    return isForwardedHttps(this.peer(), forwardedProto, this.#deps.settings.config.server.trustedProxies);
  }

  /**
   * Sets the idle limit again. The runtime keeps the last one that was set beyond the reply (1.4.5), so without this
   * the connection would stay open indefinitely. Works only before the last byte is handed over.
   */
  replyReady(): void {
    const { idleConnectionTimeoutMs } = this.#deps.settings.config.limits;
    this.#server.timeout(this.#request, Math.ceil(idleConnectionTimeoutMs / 1_000));
  }

  upgrade(): void {
    const socket = this.#sockets.accept(this.#request, this.address());
    if (this.#server.upgrade(this.#request, { data: socket })) return;
    socket.onClose();
    throw invalidRequest('the handshake of the WebSocket is not valid: see RFC 6455, 4.2.1');
  }

  /** The peer's address; null if the connection is closed. */
  peer(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null;
  }
}

interface Shedding {
  readonly bounds: DescriptorBounds;
  /** Closes connections without a request, both client and upstream connections. */
  closeIdle(): void;
  /** Called when descriptors run short, at most once a minute. */
  onShort(inUse: number): void;
}

const LOOK_EVERY_MS = 100;
const REPORT_EVERY_MS = 60_000;

/** Starts the checks; returns a function that stops them. */
export function startShedding(shedding: Shedding): () => void {
  const { bounds, onShort } = shedding;
  if (!Number.isFinite(bounds.shortFrom)) return () => {};
  keepSpareDescriptors(bounds.spares);
  let isShort = false;
  let reportedMs = Number.NEGATIVE_INFINITY;
  const look = () => {
    // All below the lowest free one are in use, and holes are filled first: a count is needed only when short.
    if (!isShort && (lowestFreeDescriptor() ?? bounds.most) < bounds.shortFrom) return;
    const inUse = countDescriptors() ?? bounds.most;
    isShort = inUse >= bounds.enoughBelow;
    if (inUse < bounds.shortFrom) {
      keepSpareDescriptors(bounds.spares);
      return;
    }
    if (performance.now() - reportedMs >= REPORT_EVERY_MS) {
      reportedMs = performance.now();
      onShort(inUse);
    }
    shed(shedding);
    // Before the next connections are accepted: while they keep coming, no look finds enough.
    keepSpareDescriptors(bounds.spares);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function shed({ bounds, closeIdle }: Shedding): void {
  closeIdle();
  // If no descriptor is left for the count, all are in use.
  const excess = (countDescriptors() ?? bounds.most) - bounds.enoughBelow;
  if (excess <= 0) return;
  for (const body of chooseBodies(arrivingBodies(), excess)) {
    body.end(
      new CallFailure('over_capacity', 'the gateway has too many connections open; try again shortly', {
        closeConnection: true,
        retryAfterSeconds: 1,
      }),
    );
  }
}

/** Chooses from the addresses with the most bodies, and of an address the oldest. */
export function chooseBodies<Body extends Pick<ArrivingBody, 'startMs' | 'address'>>(
  bodies: readonly Body[],
  most: number,
): readonly Body[] {
  const byAddress = new Map<string | null, Body[]>();
  for (const body of bodies) {
    const address = body.address();
    const ofAddress = byAddress.get(address);
    if (ofAddress === undefined) byAddress.set(address, [body]);
    else ofAddress.push(body);
  }
  const ranked: { readonly body: Body; readonly left: number }[] = [];
  for (const ofAddress of byAddress.values()) {
    ofAddress.sort((one, other) => one.startMs - other.startMs);
    for (const [index, body] of ofAddress.entries()) ranked.push({ body, left: ofAddress.length - index });
  }
  ranked.sort((one, other) => other.left - one.left);
  return ranked.slice(0, most).map(({ body }) => body);
}
