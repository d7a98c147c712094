/**
 * Sends bytes to one streaming client: keeps their order, handles back-pressure, and queues what the client has not
 * taken. The listener decides what to do about a slow client.
 */

import type { CallFailure } from '../../errors/call-failure.ts';

/**
 * The controller that Bun passes to a stream of type `direct`. `write` returns a promise when the client's socket is
 * full.
 */
export interface DirectController {
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
  close(): void;
}

/** A streamed answer that waits for its client. */
export interface AnswerStream {
  /** Resolves when everything was handed over; rejects if the client is given up. */
  attach(controller: DirectController): Promise<void>;
  /** The client left. */
  leave(): void;
}

/** The body of a reply, which the stream writes. */
export function streamBody(stream: AnswerStream): ReadableStream {
  const source = {
    type: 'direct' as const,
    pull: (controller: DirectController) => stream.attach(controller),
    cancel: () => stream.leave(),
  };
  return new ReadableStream(source as unknown as Bun.DirectUnderlyingSource);
}

/**
 * Called with the size of the backlog when the client falls behind, and when it has caught up, including at the end of
 * the stream.
 */
export interface OutboxListener {
  onBacklog(bytes: number): void;
  onCaughtUp(): void;
}

/** How an answer ends: with its last bytes, or with a failure in their place. */
export interface AnswerEnd {
  readonly last: Uint8Array;
  readonly failure: CallFailure | null;
}

const GIVEN_UP = 'the connection was given up';
/**
 * From 15 KiB on the runtime writes the head of a reply in one piece to the socket for each name, separator and value:
 * 47 writes and 65 µs more than a stream of the same bytes (Bun 1.4.5, 2026-11-22).
 */
const WHOLE_BYTES_MAX = 15 * 1024 - 1;

export class Outbox {
  readonly #listener: OutboxListener;
  readonly #onPut: (bytes: Uint8Array) => void;
  readonly #mayGoOut: () => boolean;
  /** Bytes put in since the last permitted flush wait for `release`. */
  #held = false;
  /** The part of the backlog that is permitted but not taken yet. */
  #allowedBytes = 0;
  #controller: DirectController | null = null;
  /** Put in since the last flush: views of upstream socket reads, valid for this turn only. */
  #fresh: Uint8Array[] = [];
  /** Adjacent spans of one upstream socket read become one write: a hundred events, one call. */
  #runBytes: Uint8Array | null = null;
  #runStart = 0;
  #runEnd = 0;
  /**
   * Bytes that a stalled client did not take, copied out of upstream's reads. As views, 256 KiB of small events kept
   * two reads of 512 KiB alive, plus 2,600 views; as copies they need only the bytes, about 0.7 MB, because one more
   * read arrives after a pause. This is the smaller part of a stalled reader's cost: with 100 of them on an endless
   * stream resident memory grew by 1.95 MB each before and 1.74 MB after, and its peak, 3.6 MB each, did not change
   * (three runs each, 2026-11-20). The 4 MB that the kernel takes per connection before `write` reports it are not
   * memory of this process.
   */
  readonly #backlog = new Backlog();
  #full = false;
  #stuckSinceMs = 0;
  #closing = false;
  #breaksOff = false;
  #over = false;
  #resolve: (() => void) | null = null;
  #reject: ((reason: Error) => void) | null = null;

  /**
   * `onPut` gets all bytes that are put in and must copy them at once. `mayGoOut` is called at each flush; once it
   * returns false, everything waits until `release`.
   */
  constructor(listener: OutboxListener, onPut: (bytes: Uint8Array) => void, mayGoOut: () => boolean) {
    this.#listener = listener;
    this.#onPut = onPut;
    this.#mayGoOut = mayGoOut;
  }

  /** Whether the client's socket is full; nothing put in since has been taken. */
  get full(): boolean {
    return this.#full;
  }

  /** When the client last took bytes, while `full`; on the `performance.now()` clock. */
  get stuckSinceMs(): number {
    return this.#stuckSinceMs;
  }

  /** Everything was handed over and the stream is closed, or the connection was dropped. */
  get closed(): boolean {
    return this.#over;
  }

  /**
   * Connects the client. Resolves when everything was handed over and the stream is closed; rejects if the connection
   * is dropped.
   */
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

  /**
   * Everything that was put in, of a short stream that was closed before a client was connected: then no client can be
   * connected any more. Null: a client was, or has to be.
   */
  takeWhole(): Buffer | null {
    if (!this.#closing || this.#breaksOff || this.#over || this.#controller !== null) return null;
    if (this.#backlog.byteCount > WHOLE_BYTES_MAX) return null;
    const whole = this.#backlog.takeAll();
    this.#over = true;
    this.#listener.onCaughtUp();
    return whole;
  }

  /** Adds bytes; the view must stay valid only until the next `flush`. */
  put(bytes: Uint8Array): void {
    this.#endRun();
    if (bytes.length > 0) this.#add(bytes);
  }

  /** Like `put`, for `bytes[start, end)`. */
  putSpan(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.#runBytes || start !== this.#runEnd) {
      this.#endRun();
      this.#runBytes = bytes;
      this.#runStart = start;
    }
    this.#runEnd = end;
  }

  /** Adds bytes of the gateway itself, between the answer's. */
  putOwn(bytes: Uint8Array): void {
    this.#endRun();
    if (bytes.length > 0) this.#add(bytes);
  }

  /** The answer is whole, with `last`, which leaves only once its record is durable. */
  finish(last: Uint8Array): AnswerEnd | Promise<AnswerEnd> {
    return { last, failure: null };
  }

  /** The answer ends early: nothing of it may wait for more. */
  finishNow(): void {}

  /** Sends what was put in; call it once after a group of puts. */
  flush(): void {
    if (!this.#held && !this.#mayGoOut()) {
      this.#held = true;
      this.#allowedBytes = this.#backlog.byteCount;
    }
    this.#drain();
  }

  /** Permits the waiting bytes to go out. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#drain();
    if (!this.#full && !this.#over) this.#listener.onCaughtUp();
  }

  /** Discards bytes that wait for `release`; bytes that the client has merely not taken yet still go out. */
  dropHeld(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#runBytes = null;
    this.#fresh = [];
    this.#backlog.truncate(this.#allowedBytes);
  }

  /** Ends the stream after the bytes put in so far. */
  close(): void {
    this.#closing = true;
    this.#held = false;
    this.#drain();
  }

  /** Breaks the connection after the bytes put in so far. */
  breakOff(): void {
    this.#breaksOff = true;
    this.close();
  }

  /**
   * Discards untaken bytes and breaks the connection, so that a client that keeps reading does not mistake it for a
   * clean end.
   */
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
    // Also before the client is connected: upstream socket reads are not valid after this turn.
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
    // Closing flushes too: the head, the bytes and the end leave in one write.
    if (this.#closing) this.#end(controller);
    else if (wrote) controller.flush();
  }

  /** The oldest bytes. Only a full outbox has a backlog, so all of the backlog is older than the fresh bytes. */
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
    if (this.#breaksOff) {
      controller.flush();
      this.#reject?.(new Error(GIVEN_UP));
    } else {
      controller.close();
      this.#resolve?.();
    }
    this.#listener.onCaughtUp();
  }
}

/** Large enough for an efficient write, small enough that a short queue costs little. */
const BLOCK_BYTES = 16 * 1024;

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/**
 * A byte queue that owns its memory. Appended bytes are copied, once: spans of a stream are views of socket reads of up
 * to 512 KiB, so keeping one small event would keep the whole read, and views of thousands of small events cost more
 * than the events.
 */
export class Backlog {
  #blocks: Block[] = [];
  #byteCount = 0;

  /** Bytes in the queue. */
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

  /** Discards everything after the first `byteCount` bytes. */
  truncate(byteCount: number): void {
    let kept = 0;
    this.#blocks = this.#blocks.filter((block) => {
      block.used = Math.min(block.used, Math.max(0, byteCount - kept));
      kept += block.used;
      return block.used > 0;
    });
    this.#byteCount = kept;
  }

  /**
   * Removes and returns the oldest bytes, up to 16 KiB, which then belong to the caller; undefined if the queue is
   * empty.
   */
  shift(): Uint8Array | undefined {
    const block = this.#blocks.shift();
    if (block === undefined) return undefined;
    this.#byteCount -= block.used;
    return block.bytes.subarray(0, block.used);
  }

  /** Removes and returns everything, in one piece. */
  takeAll(): Buffer {
    const all = Buffer.concat(this.#blocks.map(({ bytes, used }) => bytes.subarray(0, used)));
    this.clear();
    return all;
  }

  clear(): void {
    this.#blocks = [];
    this.#byteCount = 0;
  }

  #lastWithRoom(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.used < BLOCK_BYTES) return last;
    // Not from the shared pool: a slice of the pool would keep its neighbors alive.
    const block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0 };
    this.#blocks.push(block);
    return block;
  }
}
