/** Holds a credential in memory as a value that no logger, template, JSON or inspector can print. */

const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Wraps a credential. Every accidental way of printing it yields `[secret]`; only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The credential itself. Call it only where the bytes leave for the origin it is bound to, or where it is hashed. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect](): string {
    return '[secret]';
  }
}
