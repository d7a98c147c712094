/** Decodes the escapes in JSON that arrives in pieces, so that its values are searched as their reader has them. */

const ESCAPE = /\\(?:u([0-9a-f]{4})|(?:u[0-9a-f]{0,3})?$|(.))/gis;
const CHARACTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export class JsonPieces {
  /** An escape that the next piece completes. */
  #open = '';

  push(piece: string): string {
    const json = this.#open + piece;
    this.#open = '';
    return json.replace(ESCAPE, (whole, hex: string | undefined, character: string | undefined) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (character !== undefined) return CHARACTERS[character] ?? character;
      this.#open = whole;
      return '';
    });
  }
}
