/** Owns the bounds of the whole process: open calls and request-body bytes held, the latter also by key. */

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

  get isFull(): boolean {
    return this.#held >= this.#most();
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

/** Bounds of request-body bytes: in the whole process, and of one key. */
export interface BodyBounds {
  readonly process: number;
  readonly key: number;
}

/** A body whose length is declared is counted at once only while such bodies together take at most this part of the bound. */
const DECLARED_PART = 8;

/** Counts the request-body bytes that the process holds. */
export class BodyBytes {
  /** Asked each time: a reload may change them. */
  readonly #bounds: () => BodyBounds;
  readonly #held: Gauge;
  /** Of `#held`: bodies that were counted as declared and have not arrived. */
  readonly #declared: Gauge;
  /** One entry per key that ever sent a body, kept: a map that is emptied as fast as it is filled is costly to collect. */
  readonly #heldByKey = new Map<string, Gauge>();

  constructor(bounds: () => BodyBounds) {
    this.#bounds = bounds;
    this.#held = new Gauge(() => bounds().process);
    this.#declared = new Gauge(() => bounds().process / DECLARED_PART);
  }

  get held(): number {
    return this.#held.held;
  }

  /** Opens the account of one body of a key; it holds nothing yet. */
  open(keyId: string): BodyShare {
    let ofKey = this.#heldByKey.get(keyId);
    if (ofKey === undefined) {
      ofKey = new Gauge(() => this.#bounds().key);
      this.#heldByKey.set(keyId, ofKey);
    }
    return new BodyShare(this.#held, ofKey, this.#declared);
  }
}

/** The bytes that one body takes of the process and of its key. */
export class BodyShare {
  readonly #process: Gauge;
  readonly #key: Gauge;
  readonly #allDeclared: Gauge;
  #held = 0;
  #declared = 0;
  #released = false;

  constructor(process: Gauge, key: Gauge, allDeclared: Gauge) {
    this.#process = process;
    this.#key = key;
    this.#allDeclared = allDeclared;
  }

  /** Counts `bytes` more. Tells which bound they would pass; then nothing is counted. */
  take(bytes: number): 'taken' | 'process_full' | 'key_full' {
    // A body that arrives after its request ended belongs to nobody and would never be given back.
    if (this.#released) return 'taken';
    if (!this.#key.take(bytes)) return 'key_full';
    if (!this.#process.take(bytes)) {
      this.#key.give(bytes);
      return 'process_full';
    }
    this.#held += bytes;
    return 'taken';
  }

  /** Counts a body's declared length before it arrives, where bodies counted so leave room for it. */
  takeDeclared(bytes: number): boolean {
    if (!this.#allDeclared.take(bytes)) return false;
    if (this.take(bytes) === 'taken') {
      this.#declared = bytes;
      return true;
    }
    this.#allDeclared.give(bytes);
    return false;
  }

  /** The declared body is here. */
  arrived(): void {
    this.#allDeclared.give(this.#declared);
    this.#declared = 0;
  }

  /** Gives everything back. Harmless when repeated. */
  release(): void {
    this.#released = true;
    this.arrived();
    this.#process.give(this.#held);
    this.#key.give(this.#held);
    this.#held = 0;
  }
}

export interface Capacity {
  /** All calls that were let in, also those whose bodies are still arriving; bounded by descriptors and bytes alone. */
  readonly present: Gauge;
  /** Calls whose bodies are here. */
  readonly openCalls: Gauge;
  readonly bodyBytes: BodyBytes;
}

/** Bounds: calls, and bytes. */
export function createCapacity(openCallsMax: () => number, bodyBounds: () => BodyBounds): Capacity {
  return {
    present: new Gauge(() => Number.POSITIVE_INFINITY),
    openCalls: new Gauge(openCallsMax),
    bodyBytes: new BodyBytes(bodyBounds),
  };
}
