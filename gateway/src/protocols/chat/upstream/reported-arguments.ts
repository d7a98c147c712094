/**
 * Normalizes providers' tool call arguments: `null` becomes no arguments, and double-encoded JSON is decoded once.
 * Other arguments, such as objects, pass unchanged.
 */
import { parseObject } from '../../json.ts';

/** Arguments received in pieces; `push` returns the text that can be passed on so far. */
export interface ReportedArguments {
  push(piece: string): string;
  /** The arguments are complete: returns the text held back. */
  end(): string;
}

const AS_THEY_COME: ReportedArguments = { push: (piece) => piece, end: () => '' };

/** The free text of custom tools is never changed. */
export function startArguments(tool: 'function' | 'custom'): ReportedArguments {
  return tool === 'custom' ? AS_THEY_COME : new FunctionArguments();
}

/** Only arguments that start with these are normalized: a JSON string or `null`. */
const MENDED_STARTS: readonly string[] = ['"', 'n'];

class FunctionArguments implements ReportedArguments {
  #held = '';
  /** Null: only white space has come. */
  #isMended: boolean | null = null;

  push(piece: string): string {
    if (this.#isMended === false) return piece;
    this.#held += piece;
    // Checks only the first non-blank piece: a provider may send a hundred thousand pieces of one character.
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
