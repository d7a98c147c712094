/** Sends a request body that is read while it is sent, so that it need not be in memory, as fast as upstream takes it. */

/** One reading of a body from its beginning. */
export interface BodyReader {
  /** The next bytes, valid until the next call; null: there are no more. Rejects if they cannot be read. */
  next(): Promise<Uint8Array | null>;
}

export interface BodySource {
  /** In bytes, exactly. */
  readonly length: number;
  /** The value of its `content-type` header. */
  readonly contentType: string;
  /** Begins a reading; each attempt needs its own. */
  open(): BodyReader;
}

export interface FeedListener {
  /** Upstream has taken bytes. */
  onTaken(): void;
  onFault(error: Error): void;
}

/** The part of a socket that is written to: the bytes that it took, below 0 if it is closed. */
interface WritableSocket {
  write(bytes: Uint8Array): number;
}

/** Sends what one write of a request did not: bytes in memory, then those of a source. */
export class RequestFeed {
  readonly #socket: WritableSocket;
  readonly #listener: FeedListener;
  readonly #reader: BodyReader | null;
  #unsent: Uint8Array[];
  /** Bytes of the source that were not read. */
  #unread: number;
  #isReading = false;
  #isStopped = false;

  /** Sends nothing before the first `flush`. */
  constructor(first: Uint8Array, rest: Uint8Array | BodySource | null, socket: WritableSocket, listener: FeedListener) {
    const source = rest instanceof Uint8Array ? null : rest;
    this.#unsent = rest instanceof Uint8Array ? [first, rest] : [first];
    this.#reader = source?.open() ?? null;
    this.#unread = source?.length ?? 0;
    this.#socket = socket;
    this.#listener = listener;
  }

  /** Whether everything was handed to the socket. */
  get isDone(): boolean {
    return this.#unread === 0 && this.#unsent.length === 0;
  }

  /** Sends on, as far as the socket takes it. */
  flush(): void {
    for (let next = this.#unsent[0]; next !== undefined; next = this.#unsent[0]) {
      const written = this.#socket.write(next);
      if (written > 0) this.#listener.onTaken();
      if (written < next.length) {
        if (written > 0) this.#unsent[0] = next.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    if (this.#reader !== null && this.#unread > 0 && !this.#isReading) this.#read(this.#reader);
  }

  stop(): void {
    this.#isStopped = true;
    this.#unsent = [];
  }

  #read(reader: BodyReader): void {
    this.#isReading = true;
    reader.next().then(
      (bytes) => {
        this.#isReading = false;
        if (!this.#isStopped) this.#take(bytes);
      },
      (error: unknown) => {
        if (!this.#isStopped) this.#listener.onFault(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  #take(bytes: Uint8Array | null): void {
    this.#unread -= bytes?.length ?? 0;
    if (bytes === null || this.#unread < 0) {
      this.#listener.onFault(new Error('the body does not have the length that was stated'));
      return;
    }
    this.#unsent.push(bytes);
    this.flush();
  }
}
