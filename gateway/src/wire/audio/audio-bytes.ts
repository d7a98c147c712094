/** Reads parts of an audio file that need not be in memory. */

/** Bytes that can be read from any offset. */
export interface SeekableBytes {
  readonly length: number;
  /** Some bytes from an offset below `length` on, at least one. */
  read(offset: number): Promise<Buffer>;
}

export class AudioBytes {
  readonly #source: SeekableBytes;
  readonly #start: number;
  /** The last span that was read, and where it begins in the source: headers are many short reads of one place. */
  #span: Buffer = Buffer.alloc(0);
  #spanStart = 0;
  /** Bytes of the file. */
  readonly length: number;

  /** The file is `[start, end)` of the source. */
  constructor(source: SeekableBytes, start: number, end: number) {
    this.#source = source;
    this.#start = start;
    this.length = end - start;
  }

  /** `[from, from + most)` as far as the file reaches; empty outside of it. */
  async at(from: number, most: number): Promise<Buffer> {
    const end = Math.min(this.length, from + most);
    const spans: Buffer[] = [];
    for (let at = from; at >= 0 && at < end; ) {
      const span = await this.#spanAt(this.#start + at);
      const taken = span.subarray(0, end - at);
      spans.push(taken);
      at += taken.length;
    }
    const [only] = spans;
    return spans.length === 1 && only !== undefined ? only : Buffer.concat(spans);
  }

  async #spanAt(offset: number): Promise<Buffer> {
    const within = offset - this.#spanStart;
    if (within >= 0 && within < this.#span.length) return this.#span.subarray(within);
    this.#span = await this.#source.read(offset);
    this.#spanStart = offset;
    return this.#span;
  }
}
