/**
 * Writes lines to a file descriptor without ever waiting for it: lines gather while a write is under way. What a slow
 * reader does not take is dropped and counted, never kept beyond a bound.
 */
import { write } from 'node:fs';

const FLUSH_MS = 100;
const FLUSH_CHARS = 16 * 1024;
const WAITING_CHARS_MAX = 4 * 1024 * 1024;
const RETRY_MS = 20;
const CLOSE_MS = 1_000;

export class LineWriter {
  readonly #descriptor: number;
  readonly #charsMax: number;
  #waiting = '';
  #isWriting = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #dropped = 0;
  #onIdle: () => void = () => {};

  constructor(descriptor: number, charsMax: number = WAITING_CHARS_MAX) {
    this.#descriptor = descriptor;
    this.#charsMax = charsMax;
  }

  /** Lines that were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** `line` ends with a line break. */
  write(line: string): void {
    if (this.#waiting.length + line.length > this.#charsMax) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += line;
    if (this.#waiting.length >= FLUSH_CHARS) this.#flush();
    else this.#timer ??= setTimeout(this.#onTime, FLUSH_MS);
  }

  /** Writes what waits, at the end of the process. What a reader does not take within a second is lost. */
  async close(): Promise<void> {
    this.#flush();
    if (!this.#isWriting) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const limit = setTimeout(resolve, CLOSE_MS);
    await promise;
    clearTimeout(limit);
  }

  readonly #onTime = (): void => {
    this.#timer = null;
    this.#flush();
  };

  #flush(): void {
    if (this.#isWriting || this.#waiting === '') return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isWriting = true;
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#writeFrom(bytes, 0);
  }

  /** A write may take a part only, or nothing yet. */
  #writeFrom(bytes: Buffer, at: number): void {
    write(this.#descriptor, bytes, at, (fault, written) => {
      if (fault?.code === 'EAGAIN') setTimeout(() => this.#writeFrom(bytes, at), RETRY_MS);
      else if (fault === null && at + written < bytes.length) this.#writeFrom(bytes, at + written);
      else {
        if (fault !== null) this.#dropped += 1;
        this.#isWriting = false;
        if (this.#waiting === '') this.#onIdle();
        else this.#flush();
      }
    });
  }
}
