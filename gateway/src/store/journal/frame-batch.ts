/** Groups frames of the journal that share a fate, and queues frames that no block has yet. */
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

  /** Tells each waiter: `null`: its frame is durable. `onFault`: told what a waiter throws; the others are told all the same. */
  tell(failure: StoreError | null, onFault: (fault: unknown) => void): void {
    for (const waiter of this.waiters) {
      try {
        if (failure === null) waiter.onDurable();
        else waiter.onRefused(failure);
      } catch (fault) {
        onFault(fault);
      }
    }
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
