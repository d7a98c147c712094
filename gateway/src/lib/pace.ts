/** Divides long work into parts, so that other work runs between them. */

const PART_BYTES = 256 * 1024;
/** What a step costs besides its bytes. */
const STEP_BYTES = 4 * 1024;

export class Pace {
  #bytes = 0;

  /** To be awaited after each step of the work, which has read that many bytes. */
  step(bytes: number): Promise<void> | undefined {
    this.#bytes += STEP_BYTES + bytes;
    if (this.#bytes < PART_BYTES) return undefined;
    this.#bytes = 0;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
