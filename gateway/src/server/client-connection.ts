/** Provides a request's view of its connection: the peer's address, and its time limits before and after the reply. */
import type { Server } from 'bun';

/** One request's connection. */
export class ClientConnection {
  readonly #server: Server<undefined>;
  readonly #request: Request;
  readonly #idleSeconds: number;

  /**
   * Lifts the idle limit: it would cut a request that waits for its model. Bodies and slow readers have their own
   * limits.
   */
  constructor(server: Server<undefined>, request: Request, idleSeconds: number) {
    this.#server = server;
    this.#request = request;
    this.#idleSeconds = idleSeconds;
    server.timeout(request, 0);
  }

  /** The peer's address; null if the connection is closed. */
  address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null;
  }

  /**
   * Sets the idle limit again. The runtime keeps the last one that was set beyond the reply (1.4.5), so without this
   * the connection would stay open indefinitely. Works only before the last byte is handed over.
   */
  replyReady(): void {
    this.#server.timeout(this.#request, this.#idleSeconds);
  }
}
