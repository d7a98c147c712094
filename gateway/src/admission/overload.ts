/**
 * Decides which new calls the process refuses because it has more work than it can do: by the delay of its event loop,
 * and by its memory. Running calls go on. Costs a new call one comparison.
 */
import { totalmem } from 'node:os';

/** How often the delay is measured, and how late the timer may be: less is noise of the collector and of large bodies. */
const LOOK_EVERY_MS = 100;
const DELAY_MS_MAX = 250;
/**
 * The least delay of this many measurements in a row counts: one long turn is no overload, and a queue that never empties
 * is (as in RFC 8289).
 */
const LOOKS = 5;
const SHARE_UP = 0.1;
const SHARE_DOWN = 0.02;
/** Some calls always pass: their delay shows when the overload is over. */
const SHARE_MAX = 0.95;
/** The part of the memory from which on no new call begins. */
const MEMORY_PART_MAX = 0.9;

export class Overload {
  /** The part of new calls to refuse, 0 to 1. */
  #share = 0;
  #delays = new Float64Array(LOOKS);
  #looks = 0;

  /** Whether to refuse a new call; `chance`: a random number from 0 to 1. */
  refuses(chance: number): boolean {
    return this.#share > 0 && chance < this.#share;
  }

  get share(): number {
    return this.#share;
  }

  /** Notes one measurement; call it at even intervals. `memoryPart`: of the memory that the process may use. */
  note(delayMs: number, memoryPart: number): void {
    this.#delays[this.#looks % LOOKS] = delayMs;
    this.#looks += 1;
    if (memoryPart >= MEMORY_PART_MAX) {
      this.#share = 1;
      return;
    }
    const isLate = this.#looks >= LOOKS && Math.min(...this.#delays) > DELAY_MS_MAX;
    const share = isLate ? Math.min(SHARE_MAX, this.#share + SHARE_UP) : this.#share - SHARE_DOWN;
    this.#share = Math.max(0, Math.min(SHARE_MAX, share));
  }
}

/** The memory that this process may use, in bytes: of its group, else of the machine. */
function memoryBytesMax(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Starts measuring; returns a function that stops it. `onChange`: told when it begins to refuse calls (true), and when it
 * refuses none again.
 */
export function startOverloadWatch(overload: Overload, onChange: (refuses: boolean) => void): () => void {
  const memoryBytes = memoryBytesMax();
  let dueMs = performance.now() + LOOK_EVERY_MS;
  let refused = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    overload.note(Math.max(0, nowMs - dueMs), process.memoryUsage.rss() / memoryBytes);
    dueMs = nowMs + LOOK_EVERY_MS;
    const refuses = overload.share > 0;
    if (refuses !== refused) onChange(refuses);
    refused = refuses;
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
