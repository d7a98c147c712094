/** Owns the chances of the crash loop: the same seed makes the same choices. The moment of a kill is still the machine's. */

export interface Chances {
  /** A whole number from `low` to `high`, both possible. */
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
