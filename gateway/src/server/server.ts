/** Runs the HTTP server: its listening socket, time limits and size limits, and the preparation of each request. */
import type { Server } from 'bun';
import { NO_SNIFF } from '../call/deliver/reply.ts';
import { answerRequest, type ServerDeps } from './answer-request.ts';
import { ClientConnection } from './client-connection.ts';

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Stops accepting; resolves when the last reply was sent, or at once with `now`. */
  stop(now: boolean): Promise<void>;
  /** Time of the last request, on the `performance.now()` clock. */
  lastRequestMs(): number;
  /** Closes client connections without a request. */
  closeIdle(): void;
}

/** Seconds in which a new connection must send its headers. The runtime requires 5 to 255, and never 0. */
const HEADERS_WITHIN_SECONDS = 10;
/**
 * The gateway counts body bytes as they arrive, so that a refusal has a body; this keeps the runtime's own limit out of
 * the way.
 */
const RUNTIME_BODY_BYTES_MAX = 2 ** 40;

/** Throws an Error with a remedy if the address is taken. */
export function startHttpServer(host: string, port: number, parts: ServerDeps): HttpServer {
  let lastMs = Number.NEGATIVE_INFINITY;
  const server = listen(host, port, parts, () => {
    lastMs = performance.now();
  });
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shown === '0.0.0.0' || shown === '[::]' ? '127.0.0.1' : shown}:${server.port}`,
    port: server.port ?? port,
    stop: (now) => server.stop(now),
    lastRequestMs: () => lastMs,
    closeIdle: () => void server.closeIdleConnections(),
  };
}

function listen(hostname: string, port: number, parts: ServerDeps, onRequest: () => void): Server<undefined> {
  try {
    return Bun.serve({
      hostname,
      port,
      idleTimeout: HEADERS_WITHIN_SECONDS,
      maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
      fetch(request, server) {
        onRequest();
        const { idleConnectionTimeoutMs } = parts.deps.settings.config.limits;
        const connection = new ClientConnection(server, request, Math.ceil(idleConnectionTimeoutMs / 1_000));
        const answer = answerRequest(request, connection, parts);
        return parts.deps.draining ? lastOfConnection(answer) : answer;
      },
      error(fault) {
        parts.deps.log.fault('', 'a request could not be answered', fault);
        return new Response(null, { status: 500, headers: NO_SNIFF });
      },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot listen on ${hostname}:${port} (${reason}). Choose another with --port or PORT`, { cause });
  }
}

/** Tells the client that the connection ends with this reply. */
async function lastOfConnection(answer: Response | Promise<Response>): Promise<Response> {
  const reply = await answer;
  reply.headers.set('connection', 'close');
  return reply;
}
