/** A journal in memory whose disk a test steers. For tests. */

import type { Frame, FrameWaiter, Journal } from '../ports/journal.ts';
import { OutcomeUnknown, type StoreError, Unavailable } from '../ports/store-errors.ts';

interface Waiting {
  readonly frame: Frame;
  readonly waiter: FrameWaiter | null;
}

export class SteeredJournal implements Journal {
  readonly epoch = 1;
  durableSeq = 0;
  readonly durable: Frame[] = [];
  /** While true, frames wait for `write` or `refuse`. Otherwise they are durable at the end of the turn. */
  isHeld = false;
  /** Set: the journal takes no frames, and keeps those without a waiter. */
  failure: StoreError | null = null;
  #waiting: Waiting[] = [];
  #isDue = false;

  append(frame: Frame, waiter: FrameWaiter | null): void {
    if (this.failure !== null && waiter !== null) {
      waiter.onRefused(this.failure);
      return;
    }
    this.#waiting.push({ frame, waiter });
    if (this.isHeld || this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      if (!this.isHeld && this.failure === null) this.write();
    });
  }

  /** Makes all frames given so far durable. */
  write(): void {
    const written = this.#waiting;
    this.#waiting = [];
    if (written.length > 0) this.durableSeq += 1;
    this.durable.push(...written.map(({ frame }) => frame));
    for (const { waiter } of written) waiter?.onDurable();
  }

  /** Refuses the frames with waiters; the others stay. */
  refuse(failure: StoreError = new OutcomeUnknown('the disk failed')): void {
    const refused = this.#waiting.filter(({ waiter }) => waiter !== null);
    this.#waiting = this.#waiting.filter(({ waiter }) => waiter === null);
    for (const { waiter } of refused) waiter?.onRefused(failure);
  }

  async flush(): Promise<number> {
    if (this.failure !== null) throw new Unavailable('failed', this.failure.message);
    if (!this.isHeld) this.write();
    return this.durableSeq;
  }

  writable(): boolean {
    return this.failure === null;
  }

  provideFor(): void {}

  release(): void {}

  async close(): Promise<void> {
    this.write();
  }
}
