/**
 * Writes the lines of the process's log to a file descriptor, in order, without ever waiting for it: lines gather while a
 * write is under way. Lines beyond a bound are dropped and counted, and the log says so once its reader takes lines again.
 */
import { write, writeSync } from 'node:fs';

const WAITING_BYTES_MAX = 4 * 1024 * 1024;
const RETRY_MS = 20;
const CLOSE_MS = 1_000;
/** How long the end of the process waits for a write that is under way. */
const LAST_WRITE_MS = 20;

export class LineWriter {
  readonly #descriptor: number;
  readonly #bytesMax: number;
  #writeHeld: () => void = () => {};
  #waiting: Buffer[] = [];
  #bytes = 0;
  #lines = 0;
  #isWriting = false;
  #dropped = 0;
  /** Of `#dropped`: those that the log has told of. */
  #told = 0;
  #onIdle: () => void = () => {};

  constructor(descriptor: number, bytesMax: number = WAITING_BYTES_MAX) {
    this.#descriptor = descriptor;
    this.#bytesMax = bytesMax;
  }

  /** Lines that were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Sets what appends lines that were held back; it runs before any other line, so that the order stays. */
  holdBack(writeHeld: () => void): void {
    this.#writeHeld = writeHeld;
  }

  /** Writes one line, which ends with a line break, after all that were held back. */
  write(line: string): void {
    this.#writeHeld();
    this.append(Buffer.from(line), 1);
  }

  /** Writes `count` lines, each with its line break. `lines` may not change afterwards. */
  append(lines: Buffer, count: number): void {
    if (this.#bytes + lines.length > this.#bytesMax) {
      this.#dropped += count;
      return;
    }
    this.#waiting.push(lines);
    this.#bytes += lines.length;
    this.#lines += count;
    if (!this.#isWriting) this.#begin();
  }

  /** Writes what waits, before the process ends. What a reader does not take within a second is lost. */
  async close(): Promise<void> {
    this.#writeHeld();
    if (!this.#isWriting) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const limit = setTimeout(resolve, CLOSE_MS);
    await promise;
    clearTimeout(limit);
  }

  /**
   * Writes what is held back, from a listener of the process's exit, where nothing in the background runs any more. Lines
   * that wait behind a write are lost, because waiting for a slow reader could take forever.
   */
  writeAtExit(): void {
    if (this.#isWriting) {
      Bun.sleepSync(LAST_WRITE_MS);
      return;
    }
    // Keeps what is held back from a write in the background.
    this.#isWriting = true;
    this.#writeHeld();
    try {
      if (this.#bytes > 0) writeSync(this.#descriptor, this.#take().bytes);
    } catch {
      // The reader is gone, and with it the only place to say so.
    }
  }

  #begin(): void {
    this.#isWriting = true;
    const { bytes, count } = this.#take();
    this.#writeFrom(bytes, 0, count);
  }

  #take(): { readonly bytes: Buffer; readonly count: number } {
    // Every dropped line came after those that wait, and before those that come from now on.
    if (this.#dropped > this.#told) this.#waiting.push(Buffer.from(renderDropped(this.#dropped - this.#told)));
    this.#told = this.#dropped;
    const [first] = this.#waiting;
    const bytes = first !== undefined && this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting);
    const taken = { bytes, count: this.#lines };
    this.#waiting = [];
    this.#bytes = 0;
    this.#lines = 0;
    return taken;
  }

  /** A write may take a part only, or nothing yet. */
  #writeFrom(bytes: Buffer, at: number, count: number): void {
    write(this.#descriptor, bytes, at, (fault, written) => {
      if (fault?.code === 'EAGAIN') setTimeout(() => this.#writeFrom(bytes, at, count), RETRY_MS);
      else if (fault === null && at + written < bytes.length) this.#writeFrom(bytes, at + written, count);
      else this.#ended(fault === null ? 0 : count);
    });
  }

  #ended(lost: number): void {
    this.#isWriting = false;
    this.#dropped += lost;
    if (this.#bytes > 0) this.#begin();
    else this.#onIdle();
  }
}

function renderDropped(dropped: number): string {
  const time = new Date().toISOString();
  return `{"level":40,"time":"${time}","dropped":${dropped},"msg":"log lines were dropped: their reader is too slow"}\n`;
}
