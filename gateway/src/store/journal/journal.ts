/**
 * Appends frames to the journal: gathers them in blocks, one group commit each, written on the request thread and made
 * durable through the runtime's pool. `docs/decisions/0029-journal.md` gives the reasons.
 */
import type { Frame, FrameWaiter, Journal, JournalEnd } from '../ports/journal.ts';
import { OutcomeUnknown, StoreError, Unavailable } from '../ports/store-errors.ts';
import { BLOCK_HEAD_BYTES, HASH_BYTES, hashEpochStart, sealBlock } from './block.ts';
import { BlockWriter } from './block-writer.ts';
import { encodeFrame } from './encode-frame.ts';
import { DISK, type FilePort } from './file-port.ts';
import {
  datasync,
  listSegments,
  prepareSpare,
  renderHead,
  SEGMENT_BYTES,
  SEGMENT_HEAD_BYTES,
  segmentPath,
} from './segments.ts';

/** Points in the journal's work where tests kill the process. */
export const JOURNAL_FAILPOINTS = [
  'journal-before-block',
  'journal-after-block',
  'journal-after-sync',
  'journal-before-segment',
  'journal-after-segment',
] as const;
export type JournalFailpoint = (typeof JOURNAL_FAILPOINTS)[number];

export interface JournalOptions {
  /** A folder of its own. */
  readonly folder: string;
  /** The stream, the last block and the next epoch, as `recoverJournal` found them. */
  readonly stream: Uint8Array;
  readonly end: JournalEnd;
  readonly epoch: number;
  readonly file?: FilePort;
  /** Told when new calls must wait, and null when they may begin again. */
  onChange(failure: StoreError | null): void;
  /** Told a sentence for the operator. */
  onProblem(problem: string): void;
  readonly reach?: (point: JournalFailpoint) => void;
  readonly segmentBytes?: number;
}

/** Room for the end of a running call. */
const CALL_BYTES = 4 * 1024;
/** A block is written once it is as long, though nothing waits for it. */
const BLOCK_BYTES_MAX = 256 * 1024;
const LAZY_WRITE_MS = 5;
const LAZY_SYNC_MS = 100;
const RETRY_MS = 500;

/** Frames that share a fate. Reused. */
interface Batch {
  readonly waiters: FrameWaiter[];
  /** Frames that nobody waits for; kept until they are durable, to be written again after a fault. */
  readonly frames: Frame[];
}

interface OpenFile {
  readonly number: number;
  readonly file: number;
}

interface KeptSegment {
  readonly number: number;
  /** The last block before it; null: it has no head. */
  readonly after: number | null;
}

/**
 * Opens the journal in a new segment, so that what was cut at the end of the last one stays cut. Rejects with Unavailable
 * where the disk does not take the segment.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const files = options.file ?? DISK;
  try {
    files.makeFolder(options.folder);
    const kept = listSegments(files, options.folder).filter(({ isSpare }) => !isSpare);
    const journal = new SegmentJournal(
      options,
      files,
      kept.map(({ number, head }) => ({ number, after: head?.after ?? null })),
    );
    await journal.begin();
    return journal;
  } catch (fault) {
    throw nameFault(fault);
  }
}

class SegmentJournal implements Journal {
  readonly epoch: number;
  durableSeq: number;
  readonly #options: JournalOptions;
  readonly #files: FilePort;
  readonly #segmentBytes: number;
  readonly #blockBytesMax: number;

  readonly #writer = new BlockWriter(BLOCK_HEAD_BYTES);
  #formingFrames = 0;
  /** In the block that forms. */
  #forming: Batch = { waiters: [], frames: [] };
  /** In blocks that are written, but not part of the sync under way. */
  #written: Batch = { waiters: [], frames: [] };
  /** In blocks that the sync under way makes durable. */
  #syncing: Batch = { waiters: [], frames: [] };
  /** Empty, but while its waiters are told. */
  #told: Batch = { waiters: [], frames: [] };
  /** Frames that nobody waits for, while the journal cannot write. */
  #queue: Frame[] = [];

  #segment: OpenFile | null = null;
  /** Where the next block goes. */
  #at = 0;
  #lastSeq: number;
  #syncingSeq = 0;
  /** The next block's `prev`: after the last block, after the sync under way, and after what is durable. */
  readonly #prev = new Uint8Array(HASH_BYTES);
  readonly #syncingPrev = new Uint8Array(HASH_BYTES);
  readonly #durablePrev = new Uint8Array(HASH_BYTES);
  #isSyncing = false;
  #isTurnEndDue = false;
  /** The forming block waits for the next segment. */
  #isRotating = false;
  #lazyWrite: ReturnType<typeof setTimeout> | null = null;
  #lazySync: ReturnType<typeof setTimeout> | null = null;

  /** Why the journal cannot write at all. */
  #down: Unavailable | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #retrying: Promise<void> | null = null;
  #reported: Unavailable | null = null;
  #spares: OpenFile[] = [];
  /** Why there is no further spare. */
  #spareFault: Unavailable | null = null;
  #preparing: Promise<void> | null = null;
  #runningCalls = 0;
  /** Segments on the disk, but the spares, by number. */
  #kept: KeptSegment[];
  #lastNumber: number;
  #removing: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  constructor(options: JournalOptions, files: FilePort, kept: KeptSegment[]) {
    const { stream, end, epoch, segmentBytes = SEGMENT_BYTES } = options;
    this.#options = options;
    this.#files = files;
    this.#segmentBytes = segmentBytes;
    this.#blockBytesMax = Math.min(BLOCK_BYTES_MAX, segmentBytes >> 2);
    this.#kept = kept;
    this.#lastNumber = kept.at(-1)?.number ?? 0;
    this.epoch = epoch;
    this.durableSeq = end.seq;
    this.#lastSeq = end.seq;
    this.#durablePrev.set(hashEpochStart(stream, epoch, end.head));
  }

  async begin(): Promise<void> {
    await this.#openSegment();
    this.#provideSpares();
  }

  append(frame: Frame, waiter: FrameWaiter | null): void {
    if (this.#down !== null || this.#closing !== null) {
      this.#refuseOrQueue(frame, waiter);
      return;
    }
    try {
      this.#add(frame, waiter);
    } catch (fault) {
      if (waiter === null || !(fault instanceof StoreError)) throw fault;
      waiter.onRefused(fault);
    }
  }

  flush(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#down !== null && this.#queue.length > 0) return reject(this.#down);
      if (this.#formingFrames === 0 && this.#lastSeq === this.durableSeq) return resolve(this.durableSeq);
      const waiter: FrameWaiter = {
        onDurable: () => resolve(this.durableSeq),
        onRefused: (failure) => reject(this.#down ?? failure),
      };
      if (this.#formingFrames > 0) this.#forming.waiters.push(waiter);
      else if (this.#isSyncing && this.#syncingSeq === this.#lastSeq) this.#syncing.waiters.push(waiter);
      else this.#written.waiters.push(waiter);
      this.#commitAtTurnEnd();
    });
  }

  writable(): boolean {
    return this.#down === null && this.#closing === null && this.#roomBytes() >= this.#neededBytes();
  }

  provideFor(runningCalls: number): void {
    this.#runningCalls = runningCalls;
    this.#provideSpares();
  }

  release(throughSeq: number): void {
    const rest: KeptSegment[] = [];
    // The blocks of a segment end where the next one with a head begins.
    let end = Number.POSITIVE_INFINITY;
    for (let index = this.#kept.length - 1; index >= 0; index--) {
      const segment = this.#kept[index] as KeptSegment;
      if (end <= throughSeq) this.#remove(segment.number);
      else rest.unshift(segment);
      end = segment.after ?? end;
    }
    this.#kept = rest;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Adds the frame to the forming block. Throws a ConstraintViolation where it cannot be encoded. */
  #add(frame: Frame, waiter: FrameWaiter | null): void {
    encodeFrame(this.#writer, frame);
    this.#formingFrames += 1;
    if (waiter === null) {
      this.#forming.frames.push(frame);
      if (this.#lazyWrite === null) this.#lazyWrite = setTimeout(this.#onLazyWrite, LAZY_WRITE_MS);
    } else {
      this.#forming.waiters.push(waiter);
      this.#commitAtTurnEnd();
    }
    if (this.#writer.length >= this.#blockBytesMax) this.#writeLongBlock();
  }

  #refuseOrQueue(frame: Frame, waiter: FrameWaiter | null): void {
    const failure = this.#closing === null ? this.#down : null;
    if (waiter !== null) {
      waiter.onRefused(failure ?? closedFailure());
      return;
    }
    if (failure === null) throw closedFailure();
    // Encoded only to refuse now what could not be written later.
    encodeFrame(this.#writer, frame);
    this.#writer.reset();
    this.#queue.push(frame);
  }

  #commitAtTurnEnd(): void {
    if (this.#isTurnEndDue || this.#isSyncing) return;
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
    this.#lazySync = null;
    this.#commit();
  };

  /** Writes the forming block and begins a sync, unless one is under way: its end commits. */
  #commit(): void {
    if (this.#isSyncing || this.#down !== null) return;
    this.#writeBlock();
    this.#sync();
  }

  #writeLongBlock(): void {
    this.#writeBlock();
    // So much waits only where the next segment is not ready.
    if (this.#writer.length > this.#segmentBytes >> 1) {
      this.#fail(new Unavailable('failed', 'The disk does not make the next segment of the journal in time.'), false);
    }
  }

  /** Writes the forming block; leaves it where it waits for the next segment. */
  #writeBlock(): void {
    if (this.#formingFrames === 0) return;
    if (this.#at + this.#writer.length > this.#segmentBytes && !this.#enterNextSegment()) return;
    const bytes = this.#writer.bytes();
    sealBlock(bytes, this.#formingFrames, this.#lastSeq + 1, this.durableSeq, this.#prev, this.#prev);
    try {
      this.#reach('journal-before-block');
      this.#write(bytes, this.#at);
      this.#reach('journal-after-block');
    } catch (fault) {
      this.#fail(fault, true);
      return;
    }
    this.#lastSeq += 1;
    this.#at += bytes.length;
    this.#formingFrames = 0;
    this.#writer.reset();
    this.#moveFormingToWritten();
    if (this.#lazySync === null) this.#lazySync = setTimeout(this.#onLazySync, LAZY_SYNC_MS);
    if (this.#spareFault !== null) this.#report();
  }

  #moveFormingToWritten(): void {
    const { waiters, frames } = this.#written;
    if (waiters.length === 0 && frames.length === 0) {
      const empty = this.#written;
      this.#written = this.#forming;
      this.#forming = empty;
      return;
    }
    for (const waiter of this.#forming.waiters) waiters.push(waiter);
    for (const frame of this.#forming.frames) frames.push(frame);
    clear(this.#forming);
  }

  /** Makes durable what is written. Not while a sync is under way. */
  #sync(): void {
    if (this.#isSyncing || this.#segment === null || this.#lastSeq === this.durableSeq) return;
    this.#isSyncing = true;
    this.#syncingSeq = this.#lastSeq;
    this.#syncingPrev.set(this.#prev);
    const empty = this.#syncing;
    this.#syncing = this.#written;
    this.#written = empty;
    this.#files.datasync(this.#segment.file, this.#onSynced);
  }

  readonly #onSynced = (fault: unknown): void => {
    this.#isSyncing = false;
    if (fault) {
      this.#fail(fault, true);
      return;
    }
    this.#reach('journal-after-sync');
    this.durableSeq = this.#syncingSeq;
    this.#durablePrev.set(this.#syncingPrev);
    const batch = this.#syncing;
    this.#syncing = this.#told;
    // The disk works on the next block while this one's waiters are told.
    if (this.#down !== null) this.#retryLater();
    else if (this.#forming.waiters.length > 0 || this.#written.waiters.length > 0 || this.#isRotating) this.#commit();
    for (const waiter of batch.waiters) this.#tell(waiter, null);
    clear(batch);
    this.#told = batch;
  };

  #tell(waiter: FrameWaiter, failure: StoreError | null): void {
    try {
      if (failure === null) waiter.onDurable();
      else waiter.onRefused(failure);
    } catch (fault) {
      this.#options.onProblem(`A caller of the journal failed on its outcome (${messageOf(fault)}).`);
    }
  }

  /** Whether the next segment is open for the forming block. Otherwise the block waits for it, or the journal fails. */
  #enterNextSegment(): boolean {
    this.#isRotating = true;
    // A block must not be durable before those in the segment before it.
    if (this.#lastSeq > this.durableSeq) {
      this.#sync();
      return false;
    }
    const spare = this.#spares.shift();
    if (spare === undefined) {
      if (this.#spareFault !== null) this.#fail(this.#spareFault, false);
      else this.#provideSpares();
      return false;
    }
    this.#isRotating = false;
    this.#reach('journal-before-segment');
    try {
      this.#enter(spare);
      this.#reach('journal-after-segment');
    } catch (fault) {
      this.#fail(fault, false);
      return false;
    }
    this.#provideSpares();
    return true;
  }

  /** Makes a spare the segment of the blocks after the durable ones. */
  #enter(spare: OpenFile): void {
    if (this.#segment !== null) this.#files.close(this.#segment.file);
    this.#segment = spare;
    const { number } = spare;
    this.#kept.push({ number, after: this.durableSeq });
    this.#lastSeq = this.durableSeq;
    this.#prev.set(this.#durablePrev);
    this.#at = SEGMENT_HEAD_BYTES;
    this.#write(renderHead({ stream: this.#options.stream, epoch: this.epoch, number, after: this.durableSeq }), 0);
  }

  /** Opens a segment whose head is durable: it ends the one before it. */
  async #openSegment(): Promise<void> {
    await this.#preparing;
    const spare = this.#spares.shift() ?? (await this.#prepare());
    this.#reach('journal-before-segment');
    try {
      this.#enter(spare);
      await datasync(this.#files, spare.file);
      this.#reach('journal-after-segment');
    } catch (fault) {
      this.#kept.pop();
      this.#segment = null;
      this.#files.close(spare.file);
      this.#remove(spare.number);
      throw fault;
    }
  }

  async #prepare(): Promise<OpenFile> {
    const number = this.#lastNumber + 1;
    const file = await prepareSpare(this.#files, this.#options.folder, number, this.#segmentBytes);
    this.#lastNumber = number;
    return { number, file };
  }

  /** Prepares spares until they alone have the room that is needed; one after another, in the background. */
  #provideSpares(): void {
    if (this.#preparing !== null || this.#down !== null || this.#closing !== null) return;
    if (this.#spares.length * (this.#segmentBytes - SEGMENT_HEAD_BYTES) >= this.#neededBytes()) return;
    if (this.#spareFault !== null && this.#retry !== null) return;
    this.#preparing = this.#prepare().then(
      (spare) => this.#onSpare(spare),
      (fault) => this.#onNoSpare(nameFault(fault)),
    );
  }

  #onSpare(spare: OpenFile): void {
    this.#preparing = null;
    this.#spares.push(spare);
    this.#spareFault = null;
    this.#report();
    if (this.#isRotating) this.#commit();
    this.#provideSpares();
  }

  #onNoSpare(fault: Unavailable): void {
    this.#preparing = null;
    if (this.#spareFault === null) {
      this.#options.onProblem(`The journal has no further segment: ${fault.message} Retrying.`);
    }
    this.#spareFault = fault;
    if (this.#isRotating && this.#down === null) this.#fail(fault, false);
    else this.#retryLater();
    this.#report();
  }

  /**
   * Ends the segment: what is not durable is given up or queued. `mayBeWritten`: whether the forming block may be on the
   * disk. What a sync under way covers is settled at its end.
   */
  #fail(fault: unknown, mayBeWritten: boolean): void {
    const failure = nameFault(fault);
    this.#down = failure;
    this.#isRotating = false;
    this.#formingFrames = 0;
    this.#writer.reset();
    const unknown = new OutcomeUnknown(`The journal failed while it was written: ${failure.message}`);
    const refused: [FrameWaiter[], StoreError][] = [
      [this.#written.waiters, unknown],
      [this.#forming.waiters, mayBeWritten ? unknown : failure],
    ];
    const frames = [...this.#written.frames, ...this.#forming.frames, ...this.#queue];
    this.#written = { waiters: [], frames: [] };
    this.#forming = { waiters: [], frames: [] };
    if (!this.#isSyncing) {
      refused.unshift([this.#syncing.waiters, unknown]);
      frames.unshift(...this.#syncing.frames);
      this.#syncing = { waiters: [], frames: [] };
    }
    this.#queue = frames;
    this.#report();
    if (!this.#isSyncing) this.#retryLater();
    for (const [waiters, told] of refused) for (const waiter of waiters) this.#tell(waiter, told);
  }

  #retryLater(): void {
    if (this.#retry !== null || this.#closing !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      if (this.#down === null) this.#provideSpares();
      else void this.#tryAgain();
    }, RETRY_MS);
  }

  /** Goes on in a new segment if the disk takes it. Not while a sync is under way. */
  #tryAgain(): Promise<void> {
    this.#retrying ??= this.#openSegment().then(
      () => this.#onUp(),
      (fault) => {
        this.#retrying = null;
        this.#down = nameFault(fault);
        this.#report();
        this.#retryLater();
      },
    );
    return this.#retrying;
  }

  #onUp(): void {
    this.#retrying = null;
    this.#down = null;
    this.#spareFault = null;
    const queue = this.#queue;
    this.#queue = [];
    for (const frame of queue) {
      if (this.#down === null) this.#add(frame, null);
      else this.#queue.push(frame);
    }
    this.#report();
    this.#provideSpares();
  }

  #roomBytes(): number {
    return this.#segmentBytes - this.#at + this.#spares.length * (this.#segmentBytes - SEGMENT_HEAD_BYTES);
  }

  #neededBytes(): number {
    return (this.#segmentBytes >> 3) + (this.#runningCalls + 1) * CALL_BYTES;
  }

  #write(bytes: Buffer, position: number): void {
    const file = this.#segment?.file ?? -1;
    for (let done = 0; done < bytes.length; ) {
      done += this.#files.write(file, done === 0 ? bytes : bytes.subarray(done), position + done);
    }
  }

  #reach(point: JournalFailpoint): void {
    this.#options.reach?.(point);
  }

  /** Tells whether new calls may begin, when that has changed. */
  #report(): void {
    const trouble = this.#down ?? (this.#roomBytes() < this.#neededBytes() ? this.#spareFault : null);
    if ((trouble === null) === (this.#reported === null)) return;
    this.#reported = trouble;
    this.#options.onChange(trouble);
  }

  #remove(number: number): void {
    const path = segmentPath(this.#options.folder, number);
    this.#removing = this.#removing
      .then(() => this.#files.remove(path))
      .catch((fault) => this.#options.onProblem(`${path} could not be removed (${messageOf(fault)}).`));
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
    for (const timer of [this.#lazyWrite, this.#lazySync, this.#retry]) if (timer !== null) clearTimeout(timer);
    await this.#preparing;
    await this.#removing;
    if (this.#segment !== null) this.#files.close(this.#segment.file);
    this.#segment = null;
    for (const { file } of this.#spares.splice(0)) this.#files.close(file);
    if (failure !== null) throw failure;
  }

  #syncEnd(): Promise<void> {
    if (!this.#isSyncing) return Promise.resolve();
    return new Promise((resolve) => {
      this.#syncing.waiters.push({ onDurable: resolve, onRefused: () => resolve() });
    });
  }
}

function clear({ waiters, frames }: Batch): void {
  waiters.length = 0;
  frames.length = 0;
}

function closedFailure(): Unavailable {
  return new Unavailable('closed', 'The journal has been closed.');
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

/** Codes of the operating system for a full disk or an exceeded quota. */
const FULL_CODES = ['ENOSPC', 'EDQUOT'];

function nameFault(fault: unknown): Unavailable {
  if (fault instanceof Unavailable) return fault;
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  if (!FULL_CODES.includes(code))
    return new Unavailable('failed', `The journal cannot be written (${messageOf(fault)}).`);
  return new Unavailable(
    'full',
    `The disk has no room for the journal (${messageOf(fault)}). Free some space; nothing needs a restart.`,
  );
}
