/**
 * Appends frames to the journal: gathers them in blocks, one group commit each, written on the request thread and made
 * durable through the runtime's pool. `docs/decisions/0029-journal.md` gives the reasons.
 */
import type { Frame, FrameWaiter, JournalState, WatchedJournal } from '../ports/journal.ts';
import { OutcomeUnknown, StoreError, Unavailable } from '../ports/store-errors.ts';
import { BLOCK_HEAD_BYTES, HASH_BYTES, hashEpochStart, sealBlock } from './block.ts';
import { BlockWriter } from './block-writer.ts';
import { encodeFrame } from './encode-frame.ts';
import { DISK } from './file-port.ts';
import { FrameBatch, FrameQueue, Gathering } from './frame-batch.ts';
import type { JournalFailpoint, JournalOptions } from './journal-options.ts';
import { messageOf, nameFault, SegmentWriter } from './segment-writer.ts';
import { SEGMENT_BYTES } from './segments.ts';

const LAZY_WRITE_MS = 5;
const LAZY_SYNC_MS = 100;
const RETRY_MS = 500;
const SYNC_MS_MAX = 5_000; // A disk that takes longer hangs: calls that wait for it would pile up.

/**
 * Opens the journal in a new segment, so that what was cut at the end of the last one stays cut. Rejects with Unavailable
 * where the disk does not take the segment.
 */
export async function openJournal(options: JournalOptions): Promise<WatchedJournal> {
  try {
    const journal = new SegmentJournal(options);
    await journal.openSegment();
    return journal;
  } catch (fault) {
    throw nameFault(fault);
  }
}

class SegmentJournal implements WatchedJournal {
  readonly epoch: number;
  durableSeq: number;
  readonly #options: JournalOptions;
  readonly #segments: SegmentWriter;
  readonly state = (): JournalState => this.#segments.state();
  readonly #writer = new BlockWriter(BLOCK_HEAD_BYTES);
  #formingFrames = 0;
  /** In the block that forms. */
  readonly #forming = new FrameBatch();
  /** In blocks that are written, but not part of the sync under way. */
  readonly #written = new FrameBatch();
  /** In blocks that the sync under way makes durable. */
  readonly #syncing = new FrameBatch();
  /** Empty, but while its waiters are told. */
  readonly #told = new FrameBatch();
  /** Frames for later blocks: the journal cannot write, or waits for the next segment. */
  readonly #queue = new FrameQueue();

  #lastSeq: number;
  #syncingSeq = 0;
  #syncDueMs = 0;
  /** The next block's `prev`: after the last block, after the sync under way, and after what is durable. */
  readonly #prev = new Uint8Array(HASH_BYTES);
  readonly #syncingPrev = new Uint8Array(HASH_BYTES);
  readonly #durablePrev = new Uint8Array(HASH_BYTES);
  #isSyncing = false;
  #isTurnEndDue = false;
  readonly #gathering = new Gathering(() => this.#commit());
  /** The forming block waits for the next segment. */
  #isRotating = false;
  #lazyWrite: ReturnType<typeof setTimeout> | null = null;
  #lazySync: ReturnType<typeof setTimeout> | null = null;

  /** Why the journal cannot write at all. */
  #down: Unavailable | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #retrying: Promise<void> | null = null;
  #hasReported = false;
  #closing: Promise<void> | null = null;

  constructor(options: JournalOptions) {
    const { folder, stream, end, epoch, file = DISK, segmentBytes = SEGMENT_BYTES } = options;
    this.#options = options;
    this.epoch = epoch;
    this.durableSeq = end.seq;
    this.#lastSeq = end.seq;
    this.#durablePrev.set(hashEpochStart(stream, epoch, end.head));
    this.#segments = new SegmentWriter(file, folder, { stream, epoch }, segmentBytes, {
      onSpare: () => {
        this.#report();
        if (this.#isRotating) this.#commit();
      },
      onNoSpare: (fault) => {
        if (this.#isRotating) this.#fail(fault, false);
        this.#report();
      },
      onProblem: options.onProblem,
      onCommit: options.onCommit ?? null,
    });
  }

  append(frame: Frame, waiter: FrameWaiter | null): void {
    if (this.#down !== null || this.#closing !== null) this.#refuseOrQueue(frame, waiter);
    else if (frame.kind === 'refused' && waiter !== null && !this.writable())
      waiter.onRefused(new Unavailable('failed', 'The disk does not answer.'));
    else if (this.#isBacklogged()) this.#queue.push(frame, waiter);
    else this.#addOrRefuse(frame, waiter);
  }

  flush(): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiter: FrameWaiter = {
        onDurable: () => resolve(this.durableSeq),
        onRefused: (failure) => reject(this.#down ?? failure),
      };
      if (this.#down !== null && !this.#queue.isEmpty) reject(this.#down);
      else if (this.#isBacklogged()) this.#queue.push(null, waiter);
      else this.#addWaiter(waiter);
    });
  }

  writable(): boolean {
    if (this.#down !== null || this.#closing !== null) return false;
    return this.#segments.hasRoom() && !(this.#isSyncing && performance.now() > this.#syncDueMs);
  }

  provideFor(runningCalls: number): void {
    this.#segments.provideFor(runningCalls);
  }

  release(throughSeq: number): void {
    this.#segments.release(throughSeq);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Whether frames must queue, so that they keep their order and blocks their size. */
  #isBacklogged(): boolean {
    return !this.#queue.isEmpty || this.#writer.length >= this.#segments.blockBytesMax;
  }

  #addOrRefuse(frame: Frame, waiter: FrameWaiter | null): void {
    try {
      encodeFrame(this.#writer, frame);
    } catch (fault) {
      if (waiter === null || !(fault instanceof StoreError)) throw fault;
      waiter.onRefused(fault);
      return;
    }
    this.#formingFrames += 1;
    if (waiter === null) {
      this.#forming.frames.push(frame);
      if (this.#lazyWrite === null) this.#lazyWrite = setTimeout(this.#onLazyWrite, LAZY_WRITE_MS);
    } else {
      this.#forming.waiters.push(waiter);
      this.#commitAtTurnEnd();
    }
    if (this.#writer.length >= this.#segments.blockBytesMax) this.#writeBlock();
  }

  /** Adds a waiter for all frames in blocks. */
  #addWaiter(waiter: FrameWaiter): void {
    const isAllSyncing =
      this.#down !== null || this.#lastSeq === (this.#isSyncing ? this.#syncingSeq : this.durableSeq);
    if (this.#formingFrames > 0) this.#forming.waiters.push(waiter);
    else if (!isAllSyncing) this.#written.waiters.push(waiter);
    else if (this.#isSyncing) this.#syncing.waiters.push(waiter);
    else waiter.onDurable();
    this.#commitAtTurnEnd();
  }

  #refuseOrQueue(frame: Frame, waiter: FrameWaiter | null): void {
    const failure = this.#closing === null ? this.#down : null;
    if (waiter !== null) return void waiter.onRefused(failure ?? closedFailure());
    if (failure === null) throw closedFailure();
    // Encoded only to refuse now what could not be written later.
    encodeFrame(this.#writer, frame);
    this.#writer.reset();
    this.#queue.push(frame, waiter);
  }

  #commitAtTurnEnd(): void {
    if (this.#isTurnEndDue || this.#isSyncing || this.#gathering.isOn) return;
    this.#isTurnEndDue = true;
    setImmediate(this.#onTurnEnd);
  }

  readonly #onTurnEnd = (): void => {
    this.#isTurnEndDue = false;
    this.#commit();
  };

  readonly #onLazyWrite = (): void => {
    this.#lazyWrite = null;
    if (this.#down === null) this.#writeBlock();
  };

  readonly #onLazySync = (): void => {
    // The sync under way may not have what was written since it began.
    this.#lazySync = this.#isSyncing ? setTimeout(this.#onLazySync, LAZY_SYNC_MS) : null;
    this.#commit();
  };

  /** Writes the forming block and begins a sync, unless one is under way: its end commits. */
  #commit(): void {
    if (this.#isSyncing || this.#down !== null) return;
    this.#takeQueued();
    this.#writeBlock();
    this.#sync();
  }

  /** Adds queued frames, as many as fit before the next segment is waited for. */
  #takeQueued(): void {
    while (!this.#queue.isEmpty && this.#down === null && this.#writer.length < this.#segments.blockBytesMax) {
      const { frame, waiter } = this.#queue.shift() ?? {};
      try {
        if (frame) this.#addOrRefuse(frame, waiter ?? null);
        else if (waiter) this.#addWaiter(waiter);
      } catch (fault) {
        this.#options.onProblem(`A ${frame?.kind} frame cannot be kept in the journal (${messageOf(fault)}).`);
      }
    }
  }

  /** Writes the forming block; leaves it where it waits for the next segment. */
  #writeBlock(): void {
    if (this.#formingFrames === 0) return;
    if (!this.#segments.fits(this.#writer.length) && !this.#enterNextSegment()) return;
    const bytes = this.#writer.bytes();
    sealBlock(bytes, this.#formingFrames, this.#lastSeq + 1, this.durableSeq, this.#prev, this.#prev);
    try {
      this.#reach('journal-before-block');
      this.#segments.write(bytes);
      this.#reach('journal-after-block');
    } catch (fault) {
      this.#fail(fault, true);
      return;
    }
    this.#lastSeq += 1;
    this.#formingFrames = 0;
    this.#writer.reset();
    this.#written.takeAll(this.#forming);
    if (this.#lazySync === null) this.#lazySync = setTimeout(this.#onLazySync, LAZY_SYNC_MS);
    if (this.#segments.spareFault !== null) this.#report();
  }

  /** Whether the next segment is open for the forming block. Otherwise the block waits for it, or the journal fails. */
  #enterNextSegment(): boolean {
    this.#isRotating = true;
    // A block must not be durable before those in the segment before it.
    if (this.#lastSeq > this.durableSeq) {
      this.#sync();
      return false;
    }
    if (!this.#segments.hasSpare) {
      const fault = this.#segments.spareFault;
      if (fault !== null) this.#fail(fault, false);
      return false;
    }
    this.#isRotating = false;
    try {
      this.#reach('journal-before-segment');
      this.#segments.enterSpare(this.durableSeq);
      this.#reach('journal-after-segment');
    } catch (fault) {
      this.#fail(fault, false);
      return false;
    }
    return true;
  }

  /** Makes durable what is written, unless a sync is under way. */
  #sync(): void {
    if (this.#isSyncing || this.#down !== null || this.#lastSeq === this.durableSeq) return;
    this.#isSyncing = true;
    this.#syncingSeq = this.#lastSeq;
    this.#syncDueMs = performance.now() + SYNC_MS_MAX;
    this.#syncingPrev.set(this.#prev);
    this.#syncing.takeAll(this.#written);
    this.#segments.datasync(this.#onSynced);
  }

  readonly #onSynced = (fault: unknown): void => {
    this.#isSyncing = false;
    if (fault) {
      this.#fail(fault, false);
      return;
    }
    this.#reach('journal-after-sync');
    this.durableSeq = this.#syncingSeq;
    this.#durablePrev.set(this.#syncingPrev);
    this.#told.takeAll(this.#syncing);
    const hasWaiters = this.#forming.waiters.length + this.#written.waiters.length > 0;
    // The disk works on the next block while this one's waiters are told.
    if (this.#down !== null) this.#retryLater();
    else if (this.#isRotating || !this.#queue.isEmpty) this.#commit();
    else if (!this.#gathering.begin(this.#told.waiters.length) && hasWaiters) this.#commit();
    this.#told.tell(null, this.#onWaiterFault);
  };

  readonly #onWaiterFault = (fault: unknown): void => {
    this.#options.onProblem(`A caller of the journal failed on its outcome (${messageOf(fault)}).`);
  };

  /**
   * Ends the segment: what is not durable is given up or queued. `mayBeWritten`: whether the forming block may be on the
   * disk. What a sync under way covers is settled at its end.
   */
  #fail(fault: unknown, mayBeWritten: boolean): void {
    const failure = nameFault(fault);
    const unknown = new OutcomeUnknown(`The journal failed while it was written: ${failure.message}`);
    const unsure = new FrameBatch();
    const unwritten = new FrameBatch();
    if (!this.#isSyncing) unsure.takeAll(this.#syncing);
    unsure.takeAll(this.#written);
    (mayBeWritten ? unsure : unwritten).takeAll(this.#forming);
    this.#formingFrames = 0;
    this.#writer.reset();
    this.#isRotating = false;
    unwritten.waiters.push(...this.#queue.putBack([...unsure.frames, ...unwritten.frames]));
    this.#down = failure;
    this.#report();
    if (!this.#isSyncing) this.#retryLater();
    unsure.tell(unknown, this.#onWaiterFault);
    unwritten.tell(failure, this.#onWaiterFault);
  }

  #retryLater(): void {
    if (this.#closing !== null) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      void this.#tryAgain();
    }, RETRY_MS);
  }

  /** Goes on in a new segment if the disk takes it. Not while a sync is under way. */
  #tryAgain(): Promise<void> {
    this.#retrying ??= this.openSegment().then(
      () => {
        this.#retrying = null;
        this.#down = null;
        this.#report();
        this.#commitAtTurnEnd();
      },
      (fault) => {
        this.#retrying = null;
        this.#down = nameFault(fault);
        this.#retryLater();
      },
    );
    return this.#retrying;
  }

  /** Goes on in a new segment, which cuts what is not durable. */
  async openSegment(): Promise<void> {
    this.#reach('journal-before-segment');
    await this.#segments.openNext(this.durableSeq);
    this.#lastSeq = this.durableSeq;
    this.#prev.set(this.#durablePrev);
    this.#reach('journal-after-segment');
  }

  /** Tells whether new calls may begin, when that has changed. */
  #report(): void {
    const trouble = this.#down ?? (this.#segments.hasRoom() ? null : this.#segments.spareFault);
    if ((trouble !== null) === this.#hasReported) return;
    this.#hasReported = trouble !== null;
    this.#options.onChange(trouble);
  }

  #reach(point: JournalFailpoint): void {
    this.#options.reach?.(point);
  }

  async #close(): Promise<void> {
    let failure: unknown = null;
    // What could not be written gets one more chance.
    for (let tries = 0; tries < 2; tries++) {
      await this.#syncEnd();
      if (this.#down !== null) await this.#tryAgain();
      failure = await this.flush().then(
        () => null,
        (fault) => fault,
      );
      if (failure === null) break;
    }
    await this.#syncEnd();
    this.#gathering.stop();
    for (const timer of [this.#lazyWrite, this.#lazySync, this.#retry]) if (timer !== null) clearTimeout(timer);
    await this.#segments.close();
    if (failure !== null) throw failure;
  }

  #syncEnd(): Promise<void> {
    if (!this.#isSyncing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#syncing.waiters.push({ onDurable: resolve, onRefused: () => resolve() });
    });
  }
}

const closedFailure = () => new Unavailable('closed', 'The journal has been closed.');
