/** A journal in memory whose disk a test steers. For tests. */

import { BlockWriter } from '../journal/block-writer.ts';
import { encodeFrame } from '../journal/encode-frame.ts';
import type { Frame, FrameWaiter, Journal } from '../ports/journal.ts';
import { OutcomeUnknown, StoreError, Unavailable } from '../ports/store-errors.ts';

interface Waiting {
  readonly frame: Frame;
  readonly waiter: FrameWaiter | null;
}

export class SteeredJournal implements Journal {
  readonly epoch: number;
  durableSeq: number;
  /** The frames of all starts. */
  readonly durable: Frame[];
  /** While true, frames wait for `write` or `refuse`. Otherwise they are durable at the end of the turn. */
  isHeld = false;
  /** Set: the journal takes no frames, and keeps those without a waiter. */
  failure: StoreError | null = null;
  #waiting: Waiting[] = [];
  #isDue = false;
  #isClosed = false;
  readonly #writer = new BlockWriter();

  /** `last`: the journal of the start before; only its durable frames are left. */
  constructor(last: SteeredJournal | null = null) {
    this.epoch = (last?.epoch ?? 0) + 1;
    this.durableSeq = last?.durableSeq ?? 0;
    this.durable = [...(last?.durable ?? [])];
  }

  append(frame: Frame, waiter: FrameWaiter | null): void {
    try {
      this.#check(frame);
      if (this.failure !== null && waiter !== null) throw this.failure;
    } catch (fault) {
      if (waiter === null || !(fault instanceof StoreError)) throw fault;
      waiter.onRefused(fault);
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
    return this.failure === null && !this.#isClosed;
  }

  provideFor(): void {}

  release(): void {}

  async close(): Promise<void> {
    this.#isClosed = true;
    this.write();
  }

  /** Throws for what no journal could store. */
  #check(frame: Frame): void {
    if (this.#isClosed) throw new Unavailable('closed', 'The journal has been closed.');
    encodeFrame(this.#writer, frame);
    this.#writer.reset();
  }
}
