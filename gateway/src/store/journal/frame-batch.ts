/** Groups frames of the journal that share a fate, queues frames that no block has yet, and says how long one gathers. */
import type { Frame, FrameWaiter } from '../ports/journal.ts';
import type { StoreError } from '../ports/store-errors.ts';

/** Frames that become durable together, or not at all. Reused from block to block. */
export class FrameBatch {
  waiters: FrameWaiter[] = [];
  /** Frames without a waiter; kept until they are durable, to be written again after a fault. */
  frames: Frame[] = [];

  /** Takes all that the other batch has, which is empty then. */
  takeAll(other: FrameBatch): void {
    const { waiters, frames } = this;
    if (waiters.length === 0 && frames.length === 0) {
      this.waiters = other.waiters;
      this.frames = other.frames;
      other.waiters = waiters;
      other.frames = frames;
      return;
    }
    for (const waiter of other.waiters) waiters.push(waiter);
    for (const frame of other.frames) frames.push(frame);
    other.clear();
  }

  /**
   * Tells each waiter, and is empty then. `null`: its frame is durable. `onFault`: told what a waiter throws; the others are
   * told all the same.
   */
  tell(failure: StoreError | null, onFault: (fault: unknown) => void): void {
    for (const waiter of this.waiters) {
      try {
        if (failure === null) waiter.onDurable();
        else waiter.onRefused(failure);
      } catch (fault) {
        onFault(fault);
      }
    }
    this.clear();
  }

  clear(): void {
    this.waiters.length = 0;
    this.frames.length = 0;
  }
}

interface QueuedFrame {
  /** Null: only a waiter, for all frames before it. */
  readonly frame: Frame | null;
  readonly waiter: FrameWaiter | null;
}

export class FrameQueue {
  #items: QueuedFrame[] = [];
  #at = 0;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  push(frame: Frame | null, waiter: FrameWaiter | null): void {
    this.#items.push({ frame, waiter });
  }

  shift(): QueuedFrame | undefined {
    const item = this.#items[this.#at];
    this.#at += 1;
    if (this.#at >= this.#items.length) {
      this.#items = [];
      this.#at = 0;
    }
    return item;
  }

  /** Puts frames without waiters before the others, and takes out those with waiters. Returns the waiters. */
  putBack(frames: readonly Frame[]): FrameWaiter[] {
    const items = this.#items.slice(this.#at);
    const before = frames.map((frame) => ({ frame, waiter: null }));
    this.#items = [...before, ...items.filter(({ waiter }) => waiter === null)];
    this.#at = 0;
    return items.flatMap(({ waiter }) => (waiter === null ? [] : [waiter]));
  }
}

/** A block with so many waiters shows a load at which they may wait. */
const BUSY_WAITERS = 4;
const GATHER_MS = 1;

/**
 * Lets the next block gather frames for a millisecond after a sync that many waited for, because a block costs as much CPU
 * as dozens of frames. With fewer, a block is written at the end of its turn. docs/decisions/0029-journal.md has the
 * measurements.
 */
export class Gathering {
  readonly #onGathered: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(onGathered: () => void) {
    this.#onGathered = onGathered;
  }

  /** Whether the next block is not due yet. */
  get isOn(): boolean {
    return this.#timer !== null;
  }

  /** Call after a sync with the number that waited for it. Returns whether gathering is on: its end is told. */
  begin(waiters: number): boolean {
    if (waiters >= BUSY_WAITERS && this.#timer === null) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.#onGathered();
      }, GATHER_MS);
    }
    return this.isOn;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
