/** Owns the way of bytes to one streaming client: order, back-pressure, and what has not been taken yet. */

/** What Bun gives to a stream of type `direct`. `write` answers a promise when the client's socket is full. */
export interface DirectController {
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
  close(): void;
}

/** Called when the client is behind by so many bytes, and when it has caught up. */
export interface OutboxListener {
  onBacklog(bytes: number): void;
  onCaughtUp(): void;
}

export class Outbox {
  readonly #listener: OutboxListener;
  #controller: DirectController | null = null;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #full = false;
  #closing = false;
  #resolve: (() => void) | null = null;
  #reject: ((reason: Error) => void) | null = null;

  constructor(listener: OutboxListener) {
    this.#listener = listener;
  }

  /** The client waits for its socket; nothing of what was put in since has been taken. */
  get full(): boolean {
    return this.#full;
  }

  /** Everything was handed over and the stream is closed. */
  get closed(): boolean {
    return this.#closing && this.#controller === null;
  }

  /** Connects the client. Resolves when everything was handed over and the stream is closed. */
  attach(controller: DirectController): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#controller = controller;
      this.#resolve = resolve;
      this.#reject = reject;
      this.#drain();
    });
  }

  put(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#full) this.#listener.onBacklog(this.#queuedBytes);
  }

  /** Hands over what was put in; call it once after a group of puts. */
  flush(): void {
    this.#drain();
  }

  /** Ends the stream after what was put in. */
  close(): void {
    this.#closing = true;
    this.#drain();
  }

  /** Drops what was not taken and breaks the connection: a client that reads on must not take it for a clean end. */
  kill(): void {
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#closing = true;
    this.#controller = null;
    this.#reject?.(new Error('the connection was given up'));
  }

  #drain(): void {
    const controller = this.#controller;
    if (controller === null || this.#full) return;
    let wrote = false;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.#queuedBytes -= next.length;
      const taken = controller.write(next);
      wrote = true;
      if (typeof taken !== 'number') {
        this.#wait(taken);
        return;
      }
    }
    if (wrote) controller.flush();
    if (this.#closing) this.#end(controller);
  }

  #wait(taken: Promise<number>): void {
    this.#full = true;
    const goOn = () => {
      if (!this.#full) return;
      this.#full = false;
      this.#drain();
      if (!this.#full) this.#listener.onCaughtUp();
    };
    taken.then(goOn, goOn);
  }

  #end(controller: DirectController): void {
    this.#controller = null;
    controller.close();
    this.#resolve?.();
  }
}
