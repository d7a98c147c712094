/** Owns judging the arguments of one tool call while they come: whether their JSON is at its end, and whether it is an object. */

import { JsonEnd } from '../../generation/json-end.ts';
import { parseObject } from '../json.ts';

/** `empty`: white space at most, which stands for no arguments; `broken`: no JSON of an object, or not the whole of it. */
type ArgumentsState = 'empty' | 'whole' | 'broken';

export class CallArguments {
  #text = '';
  #end: JsonEnd | null = new JsonEnd();
  #judged: ArgumentsState | null = null;

  push(piece: string): void {
    this.#text += piece;
    if (this.#end === null) {
      if (piece.trim() !== '') this.#judged = 'broken';
      return;
    }
    this.#judged = null;
    if (this.#end.push(piece) !== -1) this.#end = null;
  }

  /** Whether the outermost bracket has closed: what comes now can only be white space. */
  get hasEnded(): boolean {
    return this.#end === null;
  }

  judge(): ArgumentsState {
    this.#judged ??= judgeArguments(this.#text);
    return this.#judged;
  }
}

/** The same of arguments in one piece. */
export function judgeArguments(text: string): ArgumentsState {
  if (text.trim() === '') return 'empty';
  return parseObject(text) === null ? 'broken' : 'whole';
}
