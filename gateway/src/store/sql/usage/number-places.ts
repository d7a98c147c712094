/** Owns places for numbers in the order in which they come, for a hundred thousand of them: a Map takes ten times as long to grow. */

/** Slots for each number that is known, at least: fewer than half of them are taken. */
const SPARE = 2;
const SLOTS_FIRST = 1_024;
/** 2^32 over the golden ratio, which spreads numbers that follow one another. https://en.wikipedia.org/wiki/Hash_function#Fibonacci_hashing */
const SPREAD = 0x9e3779b1;

export class NumberPlaces {
  /** A number, or 0 where none is. */
  #numbers = new Uint32Array(SLOTS_FIRST);
  #places = new Uint32Array(SLOTS_FIRST);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Of a number from 1 to 2^32 - 1; a new one gets the next place. */
  placeOf(number: number): number {
    const slot = this.#slotOf(number);
    if (this.#numbers[slot] === number) return this.#places[slot] ?? 0;
    const place = this.#size++;
    this.#numbers[slot] = number;
    this.#places[slot] = place;
    if (this.#size * SPARE > this.#numbers.length) this.#grow();
    return place;
  }

  /** Where the number is, or would be. */
  #slotOf(number: number): number {
    const last = this.#numbers.length - 1;
    let slot = (Math.imul(number, SPREAD) >>> 8) & last;
    while (this.#numbers[slot] !== 0 && this.#numbers[slot] !== number) slot = (slot + 1) & last;
    return slot;
  }

  #grow(): void {
    const [numbers, places] = [this.#numbers, this.#places];
    this.#numbers = new Uint32Array(numbers.length * 4);
    this.#places = new Uint32Array(numbers.length * 4);
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] ?? 0;
      if (number === 0) continue;
      const slot = this.#slotOf(number);
      this.#numbers[slot] = number;
      this.#places[slot] = places[at] ?? 0;
    }
  }
}
