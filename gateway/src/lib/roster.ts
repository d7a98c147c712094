/** Owns a collection of what comes and goes with every call. Knows nothing of what is in it, and keeps no order. */

/** Where one item stands; made by `add` and handed to `remove`. */
export interface Seat<Item> {
  readonly item: Item;
  /** Kept by the roster alone; `GONE` once removed. */
  place: number;
}

const GONE = -1;

/**
 * An array with places, not a Set: a Set that is emptied as fast as it is filled makes a new table every few dozen items, the
 * old table leads to the new one, and so the runtime's quick collections keep all that ever stood in one. Of a gateway's calls
 * that was some 15 KB each, marked once and kept until the next full collection (2026-11-22, Bun 1.4).
 */
export class Roster<Item> {
  readonly #seats: Seat<Item>[] = [];

  get size(): number {
    return this.#seats.length;
  }

  add(item: Item): Seat<Item> {
    const seat = { item, place: this.#seats.length };
    this.#seats.push(seat);
    return seat;
  }

  /** Harmless when repeated. */
  remove(seat: Seat<Item>): void {
    const { place } = seat;
    if (place === GONE) return;
    const last = this.#seats.pop();
    if (last !== undefined && last !== seat) {
      this.#seats[place] = last;
      last.place = place;
    }
    seat.place = GONE;
  }

  /** Those that are in it now, whatever comes and goes while they are read. */
  items(): readonly Item[] {
    return this.#seats.map(({ item }) => item);
  }
}
