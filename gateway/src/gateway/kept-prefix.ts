/** Owns the beginning of a body as it is gathered, in memory of its own. What it may take is asked of a gauge. */
import type { Gauge } from '../admission/capacity.ts';
import type { KeptBytes } from '../store/content-port.ts';

const FIRST_BYTES = 4 * 1024;

export class KeptPrefix {
  readonly #gauge: Gauge;
  readonly #bytesMax: number;
  #bytes = new Uint8Array(0);
  #used = 0;
  #totalBytes = 0;

  constructor(gauge: Gauge, bytesMax: number) {
    this.#gauge = gauge;
    this.#bytesMax = bytesMax;
  }

  /** What it holds of the gauge, until whoever takes its bytes gives that back. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** Copies what there is room for within the bound. False: the gauge has none left. */
  append(bytes: Uint8Array): boolean {
    this.#totalBytes += bytes.length;
    const taken = Math.min(bytes.length, this.#bytesMax - this.#used);
    if (taken === 0) return true;
    if (!this.#makeRoom(this.#used + taken)) return false;
    this.#bytes.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), this.#used);
    this.#used += taken;
    return true;
  }

  /** What was gathered; nothing may be appended after it. */
  result(): KeptBytes {
    return { bytes: this.#bytes.subarray(0, this.#used), totalBytes: this.#totalBytes };
  }

  #makeRoom(needed: number): boolean {
    const had = this.#bytes.length;
    if (needed <= had) return true;
    // Of a body in one piece as much as it takes; of one that grows twice as much each time.
    const room = had === 0 ? Math.max(needed, FIRST_BYTES) : Math.max(needed, Math.min(had * 2, this.#bytesMax));
    if (!this.#gauge.take(room - had)) return false;
    const grown = new Uint8Array(room);
    grown.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = grown;
    return true;
  }
}
