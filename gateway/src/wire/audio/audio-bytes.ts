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
      const span = await this.#source.read(this.#start + at);
      const taken = span.subarray(0, end - at);
      spans.push(taken);
      at += taken.length;
    }
    const [only] = spans;
    return spans.length === 1 && only !== undefined ? only : Buffer.concat(spans);
  }
}
