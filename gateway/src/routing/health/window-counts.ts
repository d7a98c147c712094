/**
 * Counts events over a sliding window, and keeps the times of answers: how long they usually take, and when one is
 * overdue. Counting allocates nothing.
 */

/** Counters over a window of equal time slots. */
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

const MINUTE_MS = 60_000;
/** Buckets grow by a sixth of an octave from 1 ms; the last one takes everything above about nine minutes. */
const STEP_FACTOR = 6 / Math.LN2;
const STEPS = 116;
const CACHED_MS = 1_000;

/** The distribution of times over the last minutes, accurate to 6%. */
export class Durations {
  readonly #steps: WindowCounts;
  readonly #cachedFor: number;
  #cachedMs = Number.NEGATIVE_INFINITY;
  #cached: number | null = null;

  /** Over the last `minutes`, in `slots` slots. `cached`: the quantile that `quick` returns. */
  constructor(minutes: number, slots: number, cached = 0.99) {
    this.#steps = new WindowCounts((minutes / slots) * MINUTE_MS, slots, STEPS);
    this.#cachedFor = cached;
  }

  add(ms: number, nowMs: number): void {
    this.#steps.add(ms <= 1 ? 0 : Math.min(STEPS - 1, Math.ceil(Math.log(ms) * STEP_FACTOR)), nowMs);
  }

  /** The middle of the bucket with the quantile; null: fewer than `least` times. */
  quantile(share: number, least: number, nowMs: number): number | null {
    const counts = Array.from({ length: STEPS }, (_, step) => this.#steps.sum(step, nowMs));
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (all < least) return null;
    let seen = 0;
    const step = counts.findIndex((count) => {
      seen += count;
      return seen >= all * share;
    });
    return step === 0 ? 1 : Math.exp((step - 0.5) / STEP_FACTOR);
  }

  /** The quantile of the constructor from a hundred times on, recomputed once a second; null: fewer. */
  quick(nowMs: number): number | null {
    if (nowMs - this.#cachedMs >= CACHED_MS) {
      this.#cachedMs = nowMs;
      this.#cached = this.quantile(this.#cachedFor, 100, nowMs);
    }
    return this.#cached;
  }
}

const TAU_MS = 10_000;

/** A moving average that follows a higher time at once and forgets it over ten seconds. */
export class PeakAverage {
  #ms = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  add(ms: number, nowMs: number): void {
    const now = this.#decayed(nowMs);
    const kept = Math.exp(-(nowMs - this.#atMs) / TAU_MS);
    this.#ms = ms >= now ? ms : this.#ms * kept + ms * (1 - kept);
    this.#atMs = nowMs;
  }

  /** Without calls it falls towards zero, so that a slow target is tried again. Null: no time is known. */
  read(nowMs: number): number | null {
    return this.#atMs === Number.NEGATIVE_INFINITY ? null : this.#decayed(nowMs);
  }

  #decayed(nowMs: number): number {
    return this.#ms * Math.exp(-(nowMs - this.#atMs) / TAU_MS);
  }
}

const OVERDUE_MIN_MS = 10_000;
const OVERDUE_FACTOR = 4;
const SIZES = 8;

/**
 * The times to the first byte of a target, by kind of call and by size of its request in powers of four from 1 KiB.
 */
export class FirstBytes {
  readonly #kinds: (Durations | undefined)[] = new Array<undefined>(2 * SIZES).fill(undefined);

  add(ms: number, isStream: boolean, requestBytes: number, nowMs: number): void {
    const kind = kindOf(isStream, requestBytes);
    let durations = this.#kinds[kind];
    if (durations === undefined) {
      durations = new Durations(30, 6);
      this.#kinds[kind] = durations;
    }
    durations.add(ms, nowMs);
  }

  /** After how long a call without a first byte is overdue; Infinity: too few calls are known. */
  overdueMs(isStream: boolean, requestBytes: number, nowMs: number): number {
    const p99 = this.#kinds[kindOf(isStream, requestBytes)]?.quick(nowMs) ?? null;
    return p99 === null ? Number.POSITIVE_INFINITY : Math.max(OVERDUE_MIN_MS, OVERDUE_FACTOR * p99);
  }

  /** Null: fewer than a hundred such calls. */
  quantile(share: number, isStream: boolean, requestBytes: number, nowMs: number): number | null {
    return this.#kinds[kindOf(isStream, requestBytes)]?.quantile(share, 100, nowMs) ?? null;
  }
}

function kindOf(isStream: boolean, requestBytes: number): number {
  const size = requestBytes < 1_024 ? 0 : Math.min(SIZES - 1, 1 + ((31 - Math.clz32(requestBytes >>> 10)) >> 1));
  return (isStream ? SIZES : 0) + size;
}
