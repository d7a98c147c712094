/** Stores items that are added and removed with every call. Keeps no order. */

/** The position of one item; returned by `add` and passed to `remove`. */
export interface Handle<Item> {
  readonly item: Item;
  /** Only the set writes it; `GONE` once removed. */
  place: number;
}

const GONE = -1;

/**
 * An array with positions, not a Set: a Set that is emptied as fast as it is filled allocates a new table every few
 * dozen items, and the old table points to the new one, so the runtime's young-generation collections keep everything
 * that was ever in one. For a gateway's calls that was some 15 KB each, retained until the next full collection
 * (2026-11-22, Bun 1.4).
 */
export class OpenSet<Item> {
  readonly #seats: Handle<Item>[] = [];

  get size(): number {
    return this.#seats.length;
  }

  add(item: Item): Handle<Item> {
    const handle = { item, place: this.#seats.length };
    this.#seats.push(handle);
    return handle;
  }

  /** Harmless when repeated. */
  remove(handle: Handle<Item>): void {
    const { place } = handle;
    if (place === GONE) return;
    const last = this.#seats.pop();
    if (last !== undefined && last !== handle) {
      this.#seats[place] = last;
      last.place = place;
    }
    handle.place = GONE;
  }

  /** A snapshot of the items, unaffected by later changes. */
  items(): readonly Item[] {
    return this.#seats.map(({ item }) => item);
  }
}
