/** Hashes texts and draws numbers for the choice of targets: the same key, name or seed always gives the same result. */

const RANGE = 2 ** 52;

/** The hash of a text or of bytes: an integer from 0 to 2^52 − 1, good for spreading, not for secrets. */
export function hashOf(data: string | Uint8Array, seed: number): number {
  return Number(Bun.hash(data, seed) >> 12n);
}

/** The number in (0, 1) of a key and a name: uniform over keys, independent between names. */
function unitOf(key: number, name: string): number {
  return (hashOf(name, key) + 0.5) / RANGE;
}

/**
 * The rank of `name` for `key` by weighted rendezvous: of several names the one with the largest rank wins, each in
 * proportion to its weight, and another name or weight moves no key between the others. 0 for a weight of 0.
 */
export function rendezvousRank(key: number, name: string, weight: number): number {
  return weight / -Math.log(unitOf(key, name));
}

/** Draws numbers from a seed. */
export class Dice {
  #state: number;

  /** `seed`: an integer from 0 to 2^53 − 1. */
  constructor(seed: number) {
    this.#state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
  }

  /** A number in [0, 1), by the generator mulberry32. */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** The index of one of `weights`, in proportion to them; -1 if none is above 0. */
  pick(weights: readonly number[]): number {
    let rest = this.roll() * weights.reduce((sum, weight) => sum + weight, 0);
    let last = -1;
    for (const [index, weight] of weights.entries()) {
      if (weight <= 0) continue;
      last = index;
      if (rest < weight) break;
      rest -= weight;
    }
    return last;
  }
}
