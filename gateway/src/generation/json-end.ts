/** Owns finding where a JSON object, array or string ends while its text still comes in pieces. Validates nothing. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Follows one value. A value that is a number or a literal has no end of its own, so none is ever found. */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  /** The piece before ended between a backslash and what it escapes. */
  #escaped = false;

  /** Reads on from `from`; gives the offset in this piece just behind the value's end, or -1. Ask no more after the end. */
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
