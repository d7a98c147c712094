/** Owns the bytes that a client which is behind has still to take, in the order they came. Decides nothing about when. */

/** Large enough to be one good write, small enough that a client with little waiting costs little. */
const BLOCK_BYTES = 16 * 1024;

interface Block {
  readonly bytes: Buffer;
  used: number;
}

/**
 * A queue of bytes that owns its memory. What is appended is copied, once: the spans of a stream are views on what the socket
 * read, up to 512 KiB each, so that keeping one small event would keep all of it, and a view for each of thousands of small
 * events costs more than the events.
 */
export class Backlog {
  #blocks: Block[] = [];
  #byteCount = 0;

  /** Bytes that wait. */
  get byteCount(): number {
    return this.#byteCount;
  }

  append(bytes: Uint8Array): void {
    this.#byteCount += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const block = this.#lastWithRoom();
      const piece = bytes.subarray(at, at + BLOCK_BYTES - block.used);
      block.bytes.set(piece, block.used);
      block.used += piece.length;
      at += piece.length;
    }
  }

  /** Forgets what was appended behind the first `byteCount` bytes. */
  truncate(byteCount: number): void {
    let kept = 0;
    this.#blocks = this.#blocks.filter((block) => {
      block.used = Math.min(block.used, Math.max(0, byteCount - kept));
      kept += block.used;
      return block.used > 0;
    });
    this.#byteCount = kept;
  }

  /** The bytes that came first, up to 16 KiB, which are the caller's from now on; undefined where nothing waits. */
  shift(): Uint8Array | undefined {
    const block = this.#blocks.shift();
    if (block === undefined) return undefined;
    this.#byteCount -= block.used;
    return block.bytes.subarray(0, block.used);
  }

  clear(): void {
    this.#blocks = [];
    this.#byteCount = 0;
  }

  #lastWithRoom(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.used < BLOCK_BYTES) return last;
    // Not from the shared pool: a slice of that would keep its neighbours alive.
    const block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: 0 };
    this.#blocks.push(block);
    return block;
  }
}
