/**
 * Keeps bytes in a file that has no name any more and is unreadable without a key that only this process has in memory:
 * AES-256-GCM by records, whose number is the nonce, so that none can be changed, moved or repeated.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, read, unlinkSync, write, writeSync } from 'node:fs';
import { join } from 'node:path';
import { freeBytes, freeMemory } from '../../lib/free-bytes.ts';

const RECORD_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const SEALED_BYTES = RECORD_BYTES + TAG_BYTES;
/** Owner only, and never a file that another program made. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const MODE = 0o600;
/** A record goes to the system's cache in 0.03 ms, unless the system makes writers wait for the disk: then each of them. */
const STALL_MS = 5;
const STALLS_MAX = 3;
const PAUSE_MS = 1_000;
const CLOSED = 'the upload is closed';

/** Decides whether uploads are written on this thread: no longer, for a pause, after some stalls in a row. */
export class WriteStalls {
  readonly #stallMs: number;
  readonly #pauseMs: number;
  #inRow = 0;
  #pausedUntilMs = 0;

  /** `stallMs`: a write that takes longer has stalled. */
  constructor(stallMs = STALL_MS, pauseMs = PAUSE_MS) {
    this.#stallMs = stallMs;
    this.#pauseMs = pauseMs;
  }

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntilMs;
  }

  /** Notes a write that began then and has ended. After a pause one stall is enough for the next. */
  noteWrite(startMs: number): void {
    const nowMs = performance.now();
    this.#inRow = nowMs - startMs > this.#stallMs ? this.#inRow + 1 : 0;
    if (this.#inRow < STALLS_MAX) return;
    this.#inRow -= 1;
    this.#pausedUntilMs = nowMs + this.#pauseMs;
  }
}

/** All uploads wait for the same disk. */
const STALLS = new WriteStalls();

export class SealedFile {
  readonly #file: number;
  readonly #stalls: WriteStalls;
  readonly #key = randomBytes(32);
  /** The bytes after the last full record. */
  readonly #open = Buffer.allocUnsafeSlow(RECORD_BYTES);
  #openBytes = 0;
  /** The record that is written. */
  readonly #sealed = Buffer.allocUnsafeSlow(SEALED_BYTES);
  #records = 0;
  #isClosed = false;
  /** Reads and writes in progress; the file is closed after them, since its number may serve another one. */
  #pending = 0;

  /** Creates the file in a folder. Throws the system's error. */
  constructor(folder: string, stalls = STALLS) {
    this.#stalls = stalls;
    const path = join(folder, `upload-${randomBytes(16).toString('hex')}`);
    this.#file = openSync(path, FLAGS, MODE);
    try {
      unlinkSync(path);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  get length(): number {
    return this.#records * RECORD_BYTES + this.#openBytes;
  }

  /**
   * Copies the bytes to the end; one call at a time. Writes at once while the system's cache has room: during each wait the
   * runtime reads up to a megabyte more from the client, in larger buffers. Rejects with the system's error: then the file
   * is unusable.
   */
  async append(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + RECORD_BYTES - this.#openBytes);
      this.#open.set(bytes.subarray(from, to), this.#openBytes);
      this.#openBytes += to - from;
      from = to;
      if (this.#openBytes === RECORD_BYTES) await this.#writeRecord();
    }
  }

  /** Some bytes from an offset below `length` on, at least one, in memory of their own, for `freeMemory`. Rejects if they are not those that were written. */
  async read(offset: number): Promise<Buffer> {
    const record = Math.floor(offset / RECORD_BYTES);
    const within = offset % RECORD_BYTES;
    if (record === this.#records) return ownCopy(this.#open.subarray(within, this.#openBytes));
    const sealed = await this.#readSealed(record);
    const opening = createDecipheriv('aes-256-gcm', this.#key, nonceOf(record));
    opening.setAuthTag(sealed.subarray(RECORD_BYTES));
    const bytes = opening.update(sealed.subarray(0, RECORD_BYTES));
    opening.final();
    freeBytes(sealed);
    return within === 0 ? bytes : bytes.subarray(within);
  }

  /** Gives the disk space back. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#key.fill(0);
    if (this.#pending === 0) closeSync(this.#file);
  }

  async #writeRecord(): Promise<void> {
    const sealing = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#records));
    const bytes = sealing.update(this.#open);
    sealing.final();
    const sealed = this.#sealed;
    sealed.set(bytes);
    sealed.set(sealing.getAuthTag(), RECORD_BYTES);
    freeMemory(bytes);
    const at = this.#records * SEALED_BYTES;
    // A write to a disk that is nearly full may be partial.
    for (let from = 0; from < SEALED_BYTES; ) {
      const rest = SEALED_BYTES - from;
      from += this.#stalls.isPaused
        ? await this.#run((done) => write(this.#file, sealed, from, rest, at + from, done))
        : this.#writeNow(from, at + from);
    }
    this.#records += 1;
    this.#openBytes = 0;
  }

  #writeNow(from: number, at: number): number {
    if (this.#isClosed) throw new Error(CLOSED);
    const startMs = performance.now();
    const bytes = writeSync(this.#file, this.#sealed, from, SEALED_BYTES - from, at);
    this.#stalls.noteWrite(startMs);
    return bytes;
  }

  async #readSealed(record: number): Promise<Buffer> {
    const sealed = Buffer.allocUnsafeSlow(SEALED_BYTES);
    const at = record * SEALED_BYTES;
    const bytes = await this.#run((done) => read(this.#file, sealed, 0, SEALED_BYTES, at, done));
    if (bytes !== SEALED_BYTES) throw new Error(`record ${record} of an upload has ${bytes} bytes`);
    return sealed;
  }

  /** Runs one operation on the file. Resolves with its number of bytes. */
  #run(start: (done: (error: Error | null, bytes: number) => void) => void): Promise<number> {
    if (this.#isClosed) return Promise.reject(new Error(CLOSED));
    this.#pending += 1;
    return new Promise((resolve, reject) => {
      start((error, bytes) => {
        this.#pending -= 1;
        if (this.#isClosed && this.#pending === 0) closeSync(this.#file);
        if (this.#isClosed) reject(new Error(CLOSED));
        else if (error !== null) reject(error);
        else resolve(bytes);
      });
    });
  }
}

/** Not in the pool of short buffers: it may be freed. */
function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/** The number of the record: a key is used for one file, and each record is written once. */
function nonceOf(record: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(record, NONCE_BYTES - 6, 6);
  return nonce;
}
