/** Reads blocks of the journal in order from its segments, each checked against its own hash and the block before it. */
import type { JournalEnd } from '../ports/journal.ts';
import { Unavailable } from '../ports/store-errors.ts';
import {
  BLOCK_HEAD_BYTES,
  type Block,
  findBlock,
  hashEpochStart,
  parseBlock,
  statedLength,
  statedSeq,
} from './block.ts';
import { DISK, type FilePort } from './file-port.ts';
import { listSegments, SEGMENT_BYTES, SEGMENT_HEAD_BYTES, type Segment, segmentOf } from './segments.ts';

/** Read at once; more only for a longer block. */
const WINDOW_BYTES = 64 * 1024;

export interface BlockCursor {
  /**
   * Yields the blocks after the last one it yielded, up to `throughSeq`, which must be durable. A block's bytes stay
   * valid. Throws Unavailable `incompatible` where a block is missing or damaged, `failed` where a file cannot be read.
   */
  read(throughSeq: number): Iterable<Block>;
  close(): void;
}

/** Opens a cursor after block `from`. It keeps its place in the segments, so that a read costs what it yields. */
export function openBlockCursor(folder: string, from: JournalEnd, files: FilePort = DISK): BlockCursor {
  const chain = new ChainReader(files, folder, from);
  return {
    *read(throughSeq) {
      if (chain.seq >= throughSeq) return;
      chain.refresh();
      while (chain.seq < throughSeq) {
        const block = chain.next();
        if (block === null) {
          throw new Unavailable(
            'incompatible',
            `Block ${chain.seq + 1} of the journal is missing or damaged (${chain.where()}).`,
          );
        }
        yield block;
      }
    },
    close: () => chain.close(),
  };
}

/** Yields the blocks after `from`, up to `throughSeq`, as a cursor's `read` does. */
export function* readBlocks(
  folder: string,
  from: JournalEnd,
  throughSeq: number,
  files: FilePort = DISK,
): Iterable<Block> {
  const cursor = openBlockCursor(folder, from, files);
  try {
    yield* cursor.read(throughSeq);
  } finally {
    cursor.close();
  }
}

/** Follows the chain of blocks through the segments. */
export class ChainReader {
  readonly #files: FilePort;
  readonly #folder: string;
  segments: Segment[] = [];
  /** The last block read. */
  seq: number;
  epoch: number;
  head: Uint8Array;
  /** The segment that is open, and the offset of the next block in it. */
  #segment: Segment | null = null;
  #file = -1;
  #at = 0;
  /** Whether `#at` is the offset of the next block, not one on the way there. */
  #isLocated = false;
  /** What was read of the file, and from which offset. */
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;
  /** The last block found on the way to the next one; 0: none. */
  passedSeq = 0;
  /** Whether the block that was to be the last one read is another one. */
  isForked = false;

  constructor(files: FilePort, folder: string, from: JournalEnd) {
    this.#files = files;
    this.#folder = folder;
    this.seq = from.seq;
    this.epoch = from.epoch;
    this.head = from.head;
  }

  /** Looks for new segments, and forgets bytes that may have been read before they were written. */
  refresh(): void {
    this.segments = listSegments(this.#files, this.#folder, this.segments);
    this.#window = Buffer.alloc(0);
  }

  /** The next block, if it is there and follows the last one; otherwise null, and the reader stays where it is. */
  next(): Block | null {
    const block = this.peek();
    if (block === null || !this.follows(block)) return null;
    this.#at += block.bytes.length;
    this.seq = block.seq;
    this.epoch = block.epoch;
    this.head = block.hash;
    return block;
  }

  /** The block in the place of the next one, if it has the next number and its own hash is right. */
  peek(): Block | null {
    const segment = segmentOf(this.segments, this.seq + 1);
    if (segment === null) return null;
    if (segment.number !== this.#segment?.number) this.#enter(segment);
    if (!this.#isLocated) this.#locate();
    this.#load(this.#at, BLOCK_HEAD_BYTES);
    const length = statedLength(this.#window, this.#at - this.#windowAt);
    if (length === 0) return null;
    this.#load(this.#at, length);
    const block = parseBlock(this.#window, this.#at - this.#windowAt, segment.head.epoch);
    return block?.seq === this.seq + 1 ? block : null;
  }

  /** Whether a block with the next number continues the chain. */
  follows(block: Block): boolean {
    const stream = this.#segment?.head?.stream;
    if (stream === undefined) return false;
    const prev = block.epoch === this.epoch ? this.head : hashEpochStart(stream, block.epoch, this.head);
    return block.prev.equals(prev);
  }

  /** The segment that is open, and the byte after the last block read in it; number 0: none. */
  get place(): { readonly number: number; readonly path: string; readonly at: number } {
    return { number: this.#segment?.number ?? 0, path: this.#segment?.path ?? '', at: this.#at };
  }

  /** Where the next block should be, in words. */
  where(): string {
    return this.#segment === null ? this.#folder : `${this.#segment.path}, byte ${this.#at}`;
  }

  close(): void {
    if (this.#segment !== null) this.#files.close(this.#file);
    this.#segment = null;
  }

  #enter(segment: Segment & { head: { after: number } }): void {
    const file = this.#files.open(segment.path, 'read');
    this.close();
    this.#file = file;
    this.#segment = segment;
    this.#at = SEGMENT_HEAD_BYTES;
    this.#isLocated = segment.head.after === this.seq;
    this.#window = Buffer.alloc(0);
  }

  /** Skips the blocks up to the last one read. What precedes it is not checked: `verify` does that. */
  #locate(): void {
    this.#isLocated = true;
    for (;;) {
      this.#load(this.#at, BLOCK_HEAD_BYTES);
      const length = statedLength(this.#window, this.#at - this.#windowAt);
      const seq = length === 0 ? 0 : statedSeq(this.#window, this.#at - this.#windowAt);
      if (length === 0 || seq > this.seq) break;
      if (seq === this.seq) {
        if (this.#pass(length)) return;
        break;
      }
      this.passedSeq = seq;
      this.#at += length;
    }
    this.#search();
  }

  /** Goes to the end of the last block read. False: it is damaged, its length perhaps too. */
  #pass(length: number): boolean {
    this.#load(this.#at, length);
    const block = parseBlock(this.#window, this.#at - this.#windowAt, 0);
    if (block === null) return false;
    this.isForked = !block.hash.equals(this.head);
    this.passedSeq = this.seq;
    this.#at += length;
    return true;
  }

  /** Looks beyond a damaged block that the database has already. */
  #search(): void {
    // A damaged length may have led anywhere.
    this.#at = SEGMENT_HEAD_BYTES;
    this.passedSeq = 0;
    this.#load(this.#at, SEGMENT_BYTES);
    for (let place = findBlock(this.#window, 0, 0); place !== null; place = findBlock(this.#window, place.at + 1, 0)) {
      const { seq, bytes } = place.block;
      if (seq > this.seq + 1) return;
      if (seq <= this.seq) this.passedSeq = seq;
      this.#at = this.#windowAt + place.at + (seq > this.seq ? 0 : bytes.length);
    }
  }

  #load(at: number, length: number): void {
    const end = this.#windowAt + this.#window.length;
    if (at >= this.#windowAt && at + length <= end) return;
    const window = Buffer.allocUnsafe(Math.max(length, WINDOW_BYTES));
    this.#window = window.subarray(0, this.#files.read(this.#file, window, at));
    this.#windowAt = at;
  }
}
