/**
 * Collects the bytes of an answer that is stored, within a limit of its own and one of the process, and chooses the headers
 * that are stored with it.
 */
import type { Gauge } from '../../admission/capacity.ts';
import { Backlog } from '../stream/outbox.ts';

/** Headers that describe the answer itself; all others belong to a single delivery. */
const KEPT_HEADERS = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-should-retry',
  'openai-processing-ms',
  'openai-version',
  'x-tollgate-provider',
  'x-tollgate-model',
  'x-tollgate-attempts',
  'x-tollgate-route',
  'x-tollgate-dropped',
  'x-tollgate-cut',
  'x-tollgate-cost-usd',
]);

/** The headers of a reply that are stored with its answer. */
export function storedHeaders(headers: Headers): [name: string, value: string][] {
  return [...headers].filter(([name]) => KEPT_HEADERS.has(name));
}

/** The largest answer that is stored. */
export const KEPT_ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** Memory is reserved in steps of this size, as needed. */
const PIECE_BYTES = 16 * 1024;

/** Why the collected bytes were dropped: the answer exceeds the size limit, or memory had no room for it. */
export type LostReason = 'too_large' | 'no_room';

export class GatheredAnswer {
  readonly #gauge: Gauge;
  readonly #gathered = new Backlog();
  #heldBytes = 0;
  #lost: LostReason | null = null;
  #ended = false;

  constructor(gauge: Gauge) {
    this.#gauge = gauge;
  }

  get lost(): LostReason | null {
    return this.#lost;
  }

  get byteCount(): number {
    return this.#gathered.byteCount;
  }

  /** Copies the bytes, if there is room. Nothing after `take` or `drop`. */
  gather(bytes: Uint8Array): void {
    if (this.#ended || this.#lost !== null) return;
    const after = this.#gathered.byteCount + bytes.length;
    const needed = Math.ceil(after / PIECE_BYTES) * PIECE_BYTES - this.#heldBytes;
    if (after > KEPT_ANSWER_BYTES_MAX) this.#lost = 'too_large';
    else if (!this.#gauge.take(needed)) this.#lost = 'no_room';
    if (this.#lost !== null) {
      this.#release();
      return;
    }
    this.#heldBytes += needed;
    this.#gathered.append(bytes);
  }

  /** The collected pieces, whose memory stays held until `drop`. */
  pieces(): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    for (let next = this.#gathered.shift(); next !== undefined; next = this.#gathered.shift()) pieces.push(next);
    return pieces;
  }

  /** All bytes in memory of their own, which the caller gives back to the gauge; null: they were dropped. */
  take(): { readonly bytes: Uint8Array; readonly heldBytes: number } | null {
    if (this.#ended || this.#lost !== null) return null;
    this.#ended = true;
    const bytes = new Uint8Array(this.#gathered.byteCount);
    let at = 0;
    for (const piece of this.pieces()) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const heldBytes = this.#heldBytes;
    this.#heldBytes = 0;
    return { bytes, heldBytes };
  }

  /** Releases what was collected. */
  drop(): void {
    this.#ended = true;
    this.#release();
  }

  #release(): void {
    this.#gathered.clear();
    this.#gauge.give(this.#heldBytes);
    this.#heldBytes = 0;
  }
}
