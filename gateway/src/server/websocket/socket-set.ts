/**
 * Accepts WebSockets at the path of Responses, within their limits for the process and for a key, and closes them when the
 * server shuts down or descriptors run short. Contract, 10.10.
 */
import type { CallDeps } from '../../call/deps.ts';
import { allowCaller, identify, readCredential } from '../../call/request/identify.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { Histories } from './history.ts';
import { type Handshake, ResponsesSocket } from './responses-socket.ts';

/** Headers of the connection, not of its requests. */
const OF_CONNECTION = [
  'connection',
  'upgrade',
  'keep-alive',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
];

export class SocketSet {
  readonly #deps: CallDeps;
  readonly #histories: Histories;
  readonly #open = new Set<ResponsesSocket>();
  readonly #countOfKey = new Map<string, number>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.#histories = new Histories(() => deps.settings.config.limits);
  }

  /**
   * The socket of a handshake; call its `onClose` if the connection cannot be upgraded. Throws CallFailure: 426 where
   * clients should use POST instead.
   */
  accept(request: Request, address: string | null): ResponsesSocket {
    const deps = this.#deps;
    const { server, limits } = deps.settings.config;
    if (!server.websocket) throw usePost('WebSockets are switched off here');
    if (!request.headers.has('upgrade')) throw usePost('a proxy removed the upgrade header of this handshake');
    if (deps.draining) {
      throw new CallFailure('draining', 'the gateway is shutting down; try again', {
        retryAfterSeconds: 2,
        closeConnection: true,
      });
    }
    const keyId = this.#identify(request, address);
    if (request.headers.has('idempotency-key')) {
      throw invalidRequest(
        'an idempotency key stands for one request; expected none for a WebSocket',
        'idempotency-key',
      );
    }
    const ofKey = this.#countOfKey.get(keyId) ?? 0;
    if (deps.capacity.webSockets.held >= limits.websocketsMax || ofKey >= limits.websocketsPerKeyMax) {
      throw usePost('too many WebSockets are open');
    }
    const handshake: Handshake = { headers: headersOfRequests(request.headers), address, keyId };
    const socket = new ResponsesSocket(handshake, deps, this.#histories.open(), () => this.#remove(socket));
    this.#open.add(socket);
    deps.capacity.webSockets.take(1);
    this.#countOfKey.set(keyId, ofKey + 1);
    return socket;
  }

  /** Closes those without a response. */
  closeIdle(): void {
    for (const socket of this.#open) socket.closeIdle();
  }

  /** Closes each once it has no response. */
  goAway(): void {
    for (const socket of this.#open) socket.goAway();
  }

  /** Only a known caller may keep a connection; each of its requests is checked again. */
  #identify({ headers }: Request, address: string | null): string {
    const principal = identify(this.#deps.directory, readCredential(headers, responsesClient.prefersApiKeyHeader));
    allowCaller(principal, address);
    return principal.keyId;
  }

  #remove(socket: ResponsesSocket): void {
    if (!this.#open.delete(socket)) return;
    this.#deps.capacity.webSockets.give(1);
    const { keyId } = socket.handshake;
    const left = (this.#countOfKey.get(keyId) ?? 0) - 1;
    if (left > 0) this.#countOfKey.set(keyId, left);
    else this.#countOfKey.delete(keyId);
  }
}

function usePost(reason: string): CallFailure {
  return new CallFailure('method_not_allowed', `${reason}; use POST`, {
    status: 426,
    allow: 'POST',
    closeConnection: true,
  });
}

function headersOfRequests(handshake: Headers): Headers {
  const headers = new Headers(handshake);
  for (const name of [...headers.keys()]) {
    if (name.startsWith('sec-websocket-') || OF_CONNECTION.includes(name)) headers.delete(name);
  }
  return headers;
}
