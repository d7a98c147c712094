/** Owns the two gauges that bound the whole process: open calls and request-body bytes held. Limits per key come later. */

/** A bounded amount. `take` answers false, and takes nothing, where it would pass the bound. */
export class Gauge {
  /** Asked each time: a reload may change it. */
  readonly #most: () => number;
  #held = 0;

  constructor(most: () => number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  take(amount: number): boolean {
    if (this.#held + amount > this.#most()) return false;
    this.#held += amount;
    return true;
  }

  give(amount: number): void {
    this.#held -= amount;
  }
}

export interface Capacity {
  readonly openCalls: Gauge;
  readonly bodyBytes: Gauge;
}

/** Bounds: calls, and bytes. */
export function createCapacity(openCallsMax: () => number, bodyBytesInFlightMax: () => number): Capacity {
  return { openCalls: new Gauge(openCallsMax), bodyBytes: new Gauge(bodyBytesInFlightMax) };
}
