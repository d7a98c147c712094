/** Keeps credentials out of what is printed: wraps the operator's, and masks our API keys in texts from others. */

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

/** `tg_`, 43 characters of secret and 6 of checksum (contract, section 4), anywhere in the text. */
const KEY = /tg_[0-9A-Za-z]{49}/g;

/** Replaces each key in the text with `[key]`. */
export function maskKeys(text: string): string {
  return text.includes('tg_') ? text.replace(KEY, '[key]') : text;
}
