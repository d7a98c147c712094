/** Generates seeded random choices for the crash loop. The exact moment of a kill still depends on the machine. */

export interface Chances {
  /** A random integer from `low` to `high`, inclusive. */
  whole(low: number, high: number): number;
}

/** Mulberry32: 32 bits of state, good enough to scatter kills. */
export function startChances(seed: number): Chances {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    const once = Math.imul(state ^ (state >>> 15), state | 1);
    const twice = (once + Math.imul(once ^ (once >>> 7), once | 61)) ^ once;
    return ((twice ^ (twice >>> 14)) >>> 0) / 2 ** 32;
  }
  return { whole: (low, high) => low + Math.floor(next() * (high - low + 1)) };
}
