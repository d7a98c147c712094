/**
 * Mends how hosts write the arguments of a call: `null` stands for none, and JSON that was put into a text once more is taken out
 * of it. Arguments that begin as an object, as they should, pass as they come.
 */
import { parseObject } from '../json.ts';

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

class FunctionArguments implements ToldArguments {
  #held = '';
  #isObject = false;

  push(piece: string): string {
    if (this.#isObject) return piece;
    const text = this.#held + piece;
    this.#isObject = text.trimStart().startsWith('{');
    this.#held = this.#isObject ? '' : text;
    return this.#isObject ? text : '';
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
