/**
 * Holds the bytes of one upload until its call has ended: a short one in memory, a longer one in a sealed file. They can be
 * read again from any offset, so that an upload may go to another target. Contract, 10.14.
 */
import { statfsSync } from 'node:fs';
import type { BodyShare } from '../../admission/capacity.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { freeBytes, freeMemory } from '../../lib/free-bytes.ts';
import { SealedFile } from './sealed-file.ts';

/** Longer uploads go to a file. */
export const MEMORY_BYTES_MAX = 1024 * 1024;
/** How often the free space of the disk is read. */
const CHECK_BYTES = 1024 * 1024;

/** Where files of uploads are made. */
export interface UploadSpool {
  readonly folder: string;
  /** Free bytes of its disk; throws the system's error. */
  freeBytes(): number;
}

/** A spool in a folder that exists. */
export function openSpool(folder: string): UploadSpool {
  return {
    folder,
    freeBytes() {
      const { bavail, bsize } = statfsSync(folder);
      return bavail * bsize;
    },
  };
}

export interface UploadBounds {
  readonly uploadBytesMax: number;
  readonly spoolFreeBytesMin: number;
}

/** What an upload takes from the process: its memory, and its part of the disk. */
export interface UploadShares {
  readonly memory: BodyShare;
  readonly disk: BodyShare;
}

export class UploadBody {
  readonly #spool: UploadSpool;
  readonly #bounds: UploadBounds;
  readonly #shares: UploadShares;
  #chunks: Uint8Array[] = [];
  #length = 0;
  #file: SealedFile | null = null;
  #checkAt = 0;

  constructor(spool: UploadSpool, bounds: UploadBounds, shares: UploadShares) {
    this.#spool = spool;
    this.#bounds = bounds;
    this.#shares = shares;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether it waits on the disk. */
  get isSpooled(): boolean {
    return this.#file !== null;
  }

  /**
   * Takes bytes over and adds them to the end; one call at a time. A promise where the disk is awaited.
   * Throws or rejects with CallFailure: `body_too_large`, `over_capacity`, `rate_limited`.
   */
  append(bytes: Uint8Array): void | Promise<void> {
    const length = this.#length + bytes.length;
    if (length > this.#bounds.uploadBytesMax) throw uploadTooLarge(this.#bounds);
    this.#length = length;
    const { memory } = this.#shares;
    if (this.#file === null && length <= MEMORY_BYTES_MAX && memory.take(bytes.length) === 'taken') {
      this.#chunks.push(bytes);
      return;
    }
    return this.#spoolBytes(bytes);
  }

  /** Some bytes from an offset below `length` on, at least one. Only after the last `append`. */
  read(offset: number): Promise<Buffer> {
    if (this.#file !== null) return this.#file.read(offset);
    return Promise.resolve(this.#inOne().subarray(offset));
  }

  /** Frees bytes that `read` gave, once nothing reads them. */
  free(bytes: Uint8Array): void {
    if (this.#file !== null) freeMemory(bytes);
  }

  /** Gives memory and disk back. Idempotent. */
  release(): void {
    this.#chunks = [];
    this.#file?.close();
    this.#shares.memory.release();
    this.#shares.disk.release();
  }

  #inOne(): Buffer {
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [whole];
    return whole;
  }

  async #spoolBytes(bytes: Uint8Array): Promise<void> {
    const before = this.#chunks;
    this.#chunks = [];
    for (const chunk of [...before, bytes]) {
      this.#takeDisk(chunk.length);
      try {
        this.#file ??= new SealedFile(this.#spool.folder);
        await this.#file.append(chunk);
        freeBytes(chunk);
      } catch (cause) {
        throw noRoom(cause);
      }
    }
    this.#shares.memory.release();
  }

  #takeDisk(bytes: number): void {
    const { disk } = this.#shares;
    const outcome = disk.take(bytes);
    if (outcome === 'key_full') {
      throw new CallFailure(
        'rate_limited',
        'the uploads that this key has open are too large together; send fewer at once',
        { closeConnection: true, retryAfterSeconds: 1 },
      );
    }
    if (outcome === 'process_full') throw noRoom('the uploads of all keys take limits.spool_bytes_max');
    this.#checkAt -= bytes;
    if (this.#checkAt > 0) return;
    this.#checkAt = CHECK_BYTES;
    if (this.#freeBytes() < this.#bounds.spoolFreeBytesMin) throw noRoom('the disk has too little free space');
  }

  #freeBytes(): number {
    try {
      return this.#spool.freeBytes();
    } catch (cause) {
      throw noRoom(cause);
    }
  }
}

export function uploadTooLarge({ uploadBytesMax }: Pick<UploadBounds, 'uploadBytesMax'>): CallFailure {
  return new CallFailure(
    'body_too_large',
    `the upload is larger than ${uploadBytesMax} bytes, the most this gateway takes. Send less, or raise limits.upload_bytes_max`,
    { closeConnection: true },
  );
}

function noRoom(cause: unknown): CallFailure {
  return new CallFailure('over_capacity', 'the gateway has no room for this upload now; try again shortly', {
    cause,
    closeConnection: true,
    retryAfterSeconds: 5,
  });
}
