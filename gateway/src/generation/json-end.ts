/** Finds the end of a JSON object, array or string whose text arrives in pieces. Validates nothing. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Follows one value. Numbers and literals have no closing character, so their end is never found. */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  /** The previous piece ended between a backslash and the character it escapes. */
  #escaped = false;

  /**
   * Reads from `from` on; returns the offset in this piece just after the value's end, or -1. Do not call it after the
   * end.
   */
  push(piece: string, from = 0): number {
    for (let at = from; at < piece.length; at++) {
      if (this.#inString) {
        at = this.#closingQuote(piece, at);
        if (at === -1) return -1;
        this.#inString = false;
        if (this.#depth === 0) return at + 1;
        continue;
      }
      switch (piece.charCodeAt(at)) {
        case QUOTE:
          this.#inString = true;
          break;
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          this.#depth += 1;
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          this.#depth -= 1;
          if (this.#depth <= 0) return at + 1;
      }
    }
    return -1;
  }

  #closingQuote(piece: string, from: number): number {
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at += 1;
    }
    for (; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code !== BACKSLASH) continue;
      at += 1;
      this.#escaped = at === piece.length;
    }
    return -1;
  }
}
