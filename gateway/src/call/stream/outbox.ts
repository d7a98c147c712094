/**
 * Owns the way of bytes to one streaming client: order, back-pressure, and what has not been taken yet. Does not decide what a
 * client that is behind costs: its listener does.
 */

/** What Bun gives to a stream of type `direct`. `write` answers a promise when the client's socket is full. */
export interface DirectController {
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
  close(): void;
}

/** Called when the client is behind by so many bytes; and when it has caught up, also with the end of the stream. */
export interface OutboxListener {
  onBacklog(bytes: number): void;
  onCaughtUp(): void;
}

const GIVEN_UP = 'the connection was given up';

export class Outbox {
  readonly #listener: OutboxListener;
  readonly #onPut: (bytes: Uint8Array) => void;
  readonly #mayGoOut: () => boolean;
  /** What was put in since the last flush that was allowed waits for `release`. */
  #held = false;
  /** How much of the backlog is not held, only not taken yet. */
  #allowedBytes = 0;
  #controller: DirectController | null = null;
  /** Put in since the last flush: views on what upstream's socket read, alive for this turn only. */
  #fresh: Uint8Array[] = [];
  /** Spans that lie side by side in one read of upstream's socket become one write: a hundred events, one call. */
  #runBytes: Uint8Array | null = null;
  #runStart = 0;
  #runEnd = 0;
  /**
   * What a stalled client did not take is copied out of upstream's reads. As views, 256 KiB of small events kept two reads of
   * 512 KiB alive, and 2,600 views with them; as copies it is the bytes alone, about 0.7 MB, because one more read arrives
   * after a pause. This is the smaller part of what a stalled reader costs: with 100 of them on an endless stream resident
   * memory grew by 1.95 MB each before and 1.74 MB after, and its peak, 3.6 MB each, did not move (three runs each,
   * 2026-11-20). The 4 MB that the kernel takes per connection before `write` says so are not memory of this process.
   */
  readonly #backlog = new Backlog();
  #full = false;
  #stuckSinceMs = 0;
  #closing = false;
  #over = false;
  #resolve: (() => void) | null = null;
  #reject: ((reason: Error) => void) | null = null;

  /**
   * `onPut` is given all that is put in, to be copied at once. `mayGoOut` is asked at each flush; after a no everything
   * waits until `release`.
   */
  constructor(listener: OutboxListener, onPut: (bytes: Uint8Array) => void, mayGoOut: () => boolean) {
    this.#listener = listener;
    this.#onPut = onPut;
    this.#mayGoOut = mayGoOut;
  }

  /** The client waits for its socket; nothing of what was put in since has been taken. */
  get full(): boolean {
    return this.#full;
  }

  /** When the client last took something, while `full`; on the `performance.now()` clock. */
  get stuckSinceMs(): number {
    return this.#stuckSinceMs;
  }

  /** Everything was handed over and the stream is closed, or it was given up. */
  get closed(): boolean {
    return this.#over;
  }

  /** Connects the client. Resolves when everything was handed over and the stream is closed; rejects once it was given up. */
  attach(controller: DirectController): Promise<void> {
    if (this.#over) return Promise.reject(new Error(GIVEN_UP));
    return new Promise((resolve, reject) => {
      this.#controller = controller;
      this.#resolve = resolve;
      this.#reject = reject;
      const waited = this.#backlog.byteCount > 0;
      this.#drain();
      if (waited && !this.#full && !this.#over) this.#listener.onCaughtUp();
    });
  }

  /** The bytes are read until the next `flush`, and not after it. */
  put(bytes: Uint8Array): void {
    this.#endRun();
    if (bytes.length > 0) this.#add(bytes);
  }

  /** As `put`, for `bytes[start, end)`. */
  putSpan(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.#runBytes || start !== this.#runEnd) {
      this.#endRun();
      this.#runBytes = bytes;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Hands over what was put in; call it once after a group of puts. */
  flush(): void {
    if (!this.#held && !this.#mayGoOut()) {
      this.#held = true;
      this.#allowedBytes = this.#backlog.byteCount;
    }
    this.#drain();
  }

  /** What waited may go out. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#drain();
    if (!this.#full && !this.#over) this.#listener.onCaughtUp();
  }

  /** What waits for `release` never goes out; what the client merely did not take yet does. */
  dropHeld(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#runBytes = null;
    this.#fresh = [];
    this.#backlog.truncate(this.#allowedBytes);
  }

  /** Ends the stream after what was put in. */
  close(): void {
    this.#closing = true;
    this.#held = false;
    this.#drain();
  }

  /** Drops what was not taken and breaks the connection: a client that reads on must not take it for a clean end. */
  kill(): void {
    this.#runBytes = null;
    this.#fresh = [];
    this.#backlog.clear();
    this.#over = true;
    this.#controller = null;
    this.#reject?.(new Error(GIVEN_UP));
  }

  #endRun(): void {
    const bytes = this.#runBytes;
    if (bytes === null) return;
    this.#runBytes = null;
    const whole = this.#runStart === 0 && this.#runEnd === bytes.length;
    this.#add(whole ? bytes : bytes.subarray(this.#runStart, this.#runEnd));
  }

  #add(bytes: Uint8Array): void {
    this.#onPut(bytes);
    this.#fresh.push(bytes);
  }

  #drain(): void {
    this.#endRun();
    const controller = this.#controller;
    if (controller !== null && !this.#full && !this.#held) this.#write(controller);
    // Before the client is connected, too: what upstream's socket read does not outlive this turn.
    if (this.#full || this.#held || this.#controller === null) this.#keepFresh();
  }

  #write(controller: DirectController): void {
    let wrote = false;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
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

  /** What came first. Only a full outbox has a backlog, so all of it came before what is fresh. */
  #next(): Uint8Array | undefined {
    return this.#backlog.shift() ?? this.#fresh.shift();
  }

  #keepFresh(): void {
    if (this.#fresh.length === 0) return;
    for (const bytes of this.#fresh) this.#backlog.append(bytes);
    this.#fresh = [];
    this.#listener.onBacklog(this.#backlog.byteCount);
  }

  #wait(taken: Promise<number>): void {
    this.#full = true;
    this.#stuckSinceMs = performance.now();
    const goOn = () => {
      if (!this.#full) return;
      this.#full = false;
      this.#drain();
      if (!this.#full) this.#listener.onCaughtUp();
    };
    taken.then(goOn, goOn);
  }

  #end(controller: DirectController): void {
    this.#over = true;
    this.#controller = null;
    controller.close();
    this.#resolve?.();
    this.#listener.onCaughtUp();
  }
}

/** Large enough to be one good write, small enough that a client with little waiting costs little. */
const BLOCK_BYTES = 16 * 1024;

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/**
 * A queue of bytes that owns its memory. What is appended is copied, once: the spans of a stream are views on what the socket
 * read, up to 512 KiB each, so that keeping one small event would keep all of it, and a view for each of thousands of small
 * events costs more than the events.
 */
export class Backlog {
  #blocks: Block[] = [];
  #byteCount = 0;

  /** Bytes that wait. */
  get byteCount(): number {
    return this.#byteCount;
  }

  append(bytes: Uint8Array): void {
    this.#byteCount += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const block = this.#lastWithRoom();
      const piece = bytes.subarray(at, at + BLOCK_BYTES - block.used);
      block.bytes.set(piece, block.used);
      block.used += piece.length;
      at += piece.length;
    }
  }

  /** Forgets what was appended behind the first `byteCount` bytes. */
  truncate(byteCount: number): void {
    let kept = 0;
    this.#blocks = this.#blocks.filter((block) => {
      block.used = Math.min(block.used, Math.max(0, byteCount - kept));
      kept += block.used;
      return block.used > 0;
    });
    this.#byteCount = kept;
  }

  /** The bytes that came first, up to 16 KiB, which are the caller's from now on; undefined where nothing waits. */
  shift(): Uint8Array | undefined {
    const block = this.#blocks.shift();
    if (block === undefined) return undefined;
    this.#byteCount -= block.used;
    return block.bytes.subarray(0, block.used);
  }

  clear(): void {
    this.#blocks = [];
    this.#byteCount = 0;
  }

  #lastWithRoom(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.used < BLOCK_BYTES) return last;
    // Not from the shared pool: a slice of that would keep its neighbours alive.
    const block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0 };
    this.#blocks.push(block);
    return block;
  }
}
