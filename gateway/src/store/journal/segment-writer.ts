/**
 * Writes bytes into the journal's segments: keeps spares ready ahead of the segment in use, so that a full disk still takes
 * the ends of running calls, and removes segments that are no longer needed.
 */
import { dirname } from 'node:path';
import type { JournalState } from '../ports/journal.ts';
import type { OnCommit } from '../ports/store.ts';
import { Unavailable } from '../ports/store-errors.ts';
import type { FilePort } from './file-port.ts';
import {
  datasync,
  listSegments,
  prepareSpare,
  renderHead,
  SEGMENT_HEAD_BYTES,
  type SegmentHead,
  segmentPath,
} from './segments.ts';

/** Room for the end of a running call. */
const CALL_BYTES = 4 * 1024;
const RETRY_MS = 500;
const BLOCK_BYTES_MAX = 256 * 1024;

export interface SegmentEvents {
  /** A spare is ready. */
  onSpare(): void;
  /** The disk did not take a spare. It is tried again. */
  onNoSpare(fault: Unavailable): void;
  onProblem(problem: string): void;
  readonly onCommit: OnCommit | null;
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

export class SegmentWriter {
  readonly #files: FilePort;
  readonly #folder: string;
  readonly #head: Pick<SegmentHead, 'stream' | 'epoch'>;
  readonly #segmentBytes: number;
  /** A longer block is only written at a segment's beginning: so much of a segment may stay empty. */
  readonly blockBytesMax: number;
  readonly #events: SegmentEvents;
  #segment: OpenFile | null = null;
  /** Where the next bytes go. */
  #at = 0;
  #spares: OpenFile[] = [];
  #preparing: Promise<void> | null = null;
  #retry: ReturnType<typeof setTimeout> | null = null;
  #runningCalls = 0;
  /** Segments on the disk, but the spares, by number. */
  #kept: KeptSegment[];
  #lastNumber: number;
  #removing: Promise<void> = Promise.resolve();
  #isClosed = false;
  /** Not after the oldest bytes that are not durable, on the `performance.now()` clock; 0: all are. */
  #unsyncedSinceMs = 0;
  /** Bytes were written since the last sync began. */
  #hasNew = false;
  /** Why there is no further spare; null: there is one, or it is being prepared. */
  spareFault: Unavailable | null = null;

  constructor(
    files: FilePort,
    folder: string,
    head: Pick<SegmentHead, 'stream' | 'epoch'>,
    segmentBytes: number,
    events: SegmentEvents,
  ) {
    this.#files = files;
    this.#folder = folder;
    this.#head = head;
    this.#segmentBytes = segmentBytes;
    this.blockBytesMax = Math.min(BLOCK_BYTES_MAX, segmentBytes >> 4);
    this.#events = events;
    files.makeFolder(folder);
    this.#kept = listSegments(files, folder)
      .filter(({ isSpare }) => !isSpare)
      .map((segment) => ({ number: segment.number, after: segment.head?.after ?? null }));
    this.#lastNumber = this.#kept.at(-1)?.number ?? 0;
  }

  get hasSpare(): boolean {
    return this.#spares.length > 0;
  }

  /** Whether so many bytes fit into the segment. */
  fits(length: number): boolean {
    return this.#at + length <= this.#segmentBytes;
  }

  /** Whether the segment and the spares have room for the ends of all running calls and of one more. */
  hasRoom(): boolean {
    const left = Math.max(0, this.#segmentBytes - this.blockBytesMax - this.#at);
    return left + this.#spareBytes() >= this.#neededBytes();
  }

  /** Keeps room for the ends of this many running calls. */
  provideFor(runningCalls: number): void {
    this.#runningCalls = runningCalls;
    this.#provideSpares();
  }

  /** Appends to the segment. Throws the system's error. */
  write(bytes: Buffer): void {
    this.#writeAt(bytes, this.#at);
    this.#at += bytes.length;
    if (this.#unsyncedSinceMs === 0) this.#unsyncedSinceMs = performance.now();
    this.#hasNew = true;
  }

  /** Makes all that was written to the segment durable. */
  datasync(done: (fault: unknown) => void): void {
    if (this.#segment === null) return;
    const startMs = performance.now();
    this.#hasNew = false;
    this.#files.datasync(this.#segment.file, (fault) => {
      if (!fault) {
        // Bytes that this sync does not cover were written after it began.
        this.#unsyncedSinceMs = this.#hasNew ? startMs : 0;
        this.#events.onCommit?.(performance.now() - startMs);
      }
      done(fault);
    });
  }

  /** Goes on in a spare, for the blocks after `after`; its head is durable with the first of them. */
  enterSpare(after: number): void {
    const spare = this.#spares.shift();
    if (spare === undefined) throw new Unavailable('failed', 'The journal has no spare segment.');
    this.#enter(spare, after);
    this.#provideSpares();
  }

  /**
   * Goes on in a new segment, for the blocks after `after`, whose head is durable: what other segments have after that
   * block no longer counts. Rejects with the system's error.
   */
  async openNext(after: number): Promise<void> {
    if (this.#segment === null) await this.#files.syncFolder(dirname(this.#folder));
    if (!this.hasSpare) await this.#provideSpare();
    const spare = this.#spares.shift();
    if (spare === undefined) throw this.spareFault ?? new Unavailable('failed', 'The journal has no spare segment.');
    try {
      this.#enter(spare, after);
      await datasync(this.#files, spare.file);
    } catch (fault) {
      this.#kept = this.#kept.filter(({ number }) => number !== spare.number);
      this.#remove(spare.number);
      throw fault;
    }
    this.#unsyncedSinceMs = 0;
    this.#provideSpares();
  }

  state(): JournalState {
    return {
      durableLagMs: this.#unsyncedSinceMs === 0 ? 0 : performance.now() - this.#unsyncedSinceMs,
      segments: this.#kept.length,
      spareSegments: this.#spares.length,
    };
  }

  /** Removes the segments that hold blocks up to this one only. */
  release(throughSeq: number): void {
    const rest: KeptSegment[] = [];
    // The blocks of a segment end where the next one with a head begins.
    let end = Number.POSITIVE_INFINITY;
    for (const segment of this.#kept.toReversed()) {
      if (end <= throughSeq) this.#remove(segment.number);
      else rest.unshift(segment);
      end = segment.after ?? end;
    }
    this.#kept = rest;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#preparing;
    await this.#removing;
    for (const { file } of this.#spares.splice(0)) this.#files.close(file);
    if (this.#segment !== null) this.#files.close(this.#segment.file);
    this.#segment = null;
  }

  #enter(spare: OpenFile, after: number): void {
    if (this.#segment !== null) this.#files.close(this.#segment.file);
    this.#segment = spare;
    this.#kept.push({ number: spare.number, after });
    this.#at = SEGMENT_HEAD_BYTES;
    this.#writeAt(renderHead({ ...this.#head, number: spare.number, after }), 0);
  }

  #writeAt(bytes: Buffer, position: number): void {
    if (this.#segment === null) throw new Unavailable('closed', 'The journal has been closed.');
    for (let done = 0; done < bytes.length; ) {
      const rest = done === 0 ? bytes : bytes.subarray(done);
      done += this.#files.write(this.#segment.file, rest, position + done);
    }
  }

  #spareBytes(): number {
    return this.#spares.length * (this.#segmentBytes - this.blockBytesMax - SEGMENT_HEAD_BYTES);
  }

  #neededBytes(): number {
    return (this.#segmentBytes >> 3) + (this.#runningCalls + 1) * CALL_BYTES;
  }

  /** Prepares spares, one after another, until they alone have the room that is needed. */
  #provideSpares(): void {
    if (this.#preparing !== null || this.#retry !== null || this.#isClosed) return;
    if (this.#spareBytes() < this.#neededBytes()) void this.#provideSpare();
  }

  /** Resolves once a spare is ready, or has failed. */
  #provideSpare(): Promise<void> {
    const number = this.#lastNumber + 1;
    this.#preparing ??= prepareSpare(this.#files, this.#folder, number, this.#segmentBytes).then(
      (file) => {
        this.#preparing = null;
        this.#lastNumber = number;
        this.spareFault = null;
        this.#spares.push({ number, file });
        this.#events.onSpare();
        this.#provideSpares();
      },
      (fault) => {
        this.#preparing = null;
        const isFirst = this.spareFault === null;
        this.spareFault = nameFault(fault);
        this.#provideLater();
        if (isFirst) this.#events.onProblem(`The journal has no further segment. ${this.spareFault.message}`);
        this.#events.onNoSpare(this.spareFault);
      },
    );
    return this.#preparing;
  }

  #provideLater(): void {
    if (this.#isClosed) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#provideSpares();
    }, RETRY_MS);
  }

  #remove(number: number): void {
    const path = segmentPath(this.#folder, number);
    this.#removing = this.#removing
      .then(() => this.#files.remove(path))
      .catch((fault) => this.#events.onProblem(`${path} could not be removed (${messageOf(fault)}).`));
  }
}

export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

/** Codes of the operating system for a full disk or an exceeded quota. */
const FULL_CODES = ['ENOSPC', 'EDQUOT'];

/** Maps a fault of the system to the port's error. */
export function nameFault(fault: unknown): Unavailable {
  if (fault instanceof Unavailable) return fault;
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  if (!FULL_CODES.includes(code)) {
    return new Unavailable('failed', `The journal cannot be written (${messageOf(fault)}).`);
  }
  return new Unavailable(
    'full',
    `The disk has no room for the journal (${messageOf(fault)}). Free some space; nothing needs a restart.`,
  );
}
