/**
 * Mends how hosts write the arguments of a call: `null` stands for none, and JSON that was put into a text once more is taken out
 * of it. Arguments that begin otherwise, as objects do, pass as they come.
 */
import { parseObject } from '../../json.ts';

/** Arguments that come in pieces; each gives what can be told by then. */
export interface ToldArguments {
  push(piece: string): string;
  /** No more comes: what was held back. */
  end(): string;
}

const AS_THEY_COME: ToldArguments = { push: (piece) => piece, end: () => '' };

/** Free text is never looked at. */
export function startArguments(tool: 'function' | 'custom'): ToldArguments {
  return tool === 'custom' ? AS_THEY_COME : new FunctionArguments();
}

/** Only texts that begin so are mended: an encoded text, or `null`. */
const MENDED_STARTS: readonly string[] = ['"', 'n'];

class FunctionArguments implements ToldArguments {
  #held = '';
  /** Null: only white space has come. */
  #isMended: boolean | null = null;

  push(piece: string): string {
    if (this.#isMended === false) return piece;
    this.#held += piece;
    // Only the first piece with a word in it is looked at: a host may send a hundred thousand of one character.
    const word = this.#isMended === null ? piece.trimStart() : '';
    if (word !== '') this.#isMended = MENDED_STARTS.includes(word.charAt(0));
    if (this.#isMended !== false) return '';
    const text = this.#held;
    this.#held = '';
    return text;
  }

  end(): string {
    const text = this.#held;
    this.#held = '';
    const words = text.trim();
    if (words === 'null') return '';
    return words.startsWith('"') ? (innerObject(words) ?? text) : text;
  }
}

/** The object whose JSON is the value of a JSON text; null: it is something else. */
function innerObject(json: string): string | null {
  try {
    const inner: unknown = JSON.parse(json);
    return typeof inner === 'string' && parseObject(inner) !== null ? inner : null;
  } catch {
    return null;
  }
}
