/** Counts events over a sliding window of equal time slots. Counting allocates nothing. */

export class WindowCounts {
  readonly #slotMs: number;
  readonly #slots: number;
  readonly #width: number;
  /** The number of the time slot that each place of the ring holds. */
  readonly #numbers: Float64Array;
  readonly #counts: Uint32Array;
  /** The running slot: the offset of its counters, and the times between which it runs. */
  #at = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** `width` counters in each of `slots` slots of `slotMs` milliseconds; the window ends with the running slot. */
  constructor(slotMs: number, slots: number, width: number) {
    this.#slotMs = slotMs;
    this.#slots = slots;
    this.#width = width;
    this.#numbers = new Float64Array(slots).fill(Number.NEGATIVE_INFINITY);
    this.#counts = new Uint32Array(slots * width);
  }

  add(counter: number, nowMs: number): void {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) this.#openSlot(nowMs);
    const at = this.#at + counter;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Takes back one event that was counted at `atMs`; nothing happens if the window has left it. */
  takeBack(counter: number, atMs: number): void {
    const number = Math.floor(atMs / this.#slotMs);
    const place = number % this.#slots;
    if (this.#numbers[place] !== number) return;
    const at = place * this.#width + counter;
    this.#counts[at] = Math.max(0, (this.#counts[at] ?? 0) - 1);
  }

  /** The number of events in the last `slots` slots, the running one included. */
  sum(counter: number, nowMs: number, slots: number = this.#slots): number {
    const oldest = Math.floor(nowMs / this.#slotMs) - slots;
    let sum = 0;
    for (let place = 0; place < this.#slots; place++) {
      if ((this.#numbers[place] ?? oldest) > oldest) sum += this.#counts[place * this.#width + counter] ?? 0;
    }
    return sum;
  }

  clear(): void {
    this.#numbers.fill(Number.NEGATIVE_INFINITY);
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  /** Makes the slot of a time the running one; forgets the counters of an earlier round. */
  #openSlot(nowMs: number): void {
    const number = Math.floor(nowMs / this.#slotMs);
    const place = number % this.#slots;
    const at = place * this.#width;
    if (this.#numbers[place] !== number) {
      this.#numbers[place] = number;
      this.#counts.fill(0, at, at + this.#width);
    }
    this.#at = at;
    this.#fromMs = number * this.#slotMs;
    this.#untilMs = this.#fromMs + this.#slotMs;
  }
}
