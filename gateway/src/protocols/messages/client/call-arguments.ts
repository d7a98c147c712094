/** Owns judging the arguments of one tool call while they come: whether their JSON is at its end, and whether it is an object. */
import { JsonEnd } from '../../../generation/json-end.ts';
import { parseObject } from '../../json.ts';

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

/** Where the text can be cut and closed, and with what. */
interface Cut {
  readonly at: number;
  readonly closers: string;
}

/** Deeper than any tool's arguments; what lies behind is left out. */
const DEPTH_MAX = 512;

/** JSON of an object: the text as it is if it is one, else its whole members, else `{}`. */
export function keepWholeMembers(text: string): string {
  const { at, closers } = lastCut(text);
  const kept = text.slice(0, at) + closers;
  return parseObject(kept) === null ? '{}' : kept;
}

/** The last place behind a whole value. Numbers and literals are whole only where something follows them. */
function lastCut(text: string): Cut {
  let cut: Cut = { at: 0, closers: '{}' };
  let closers = '';
  let isValue = false;
  const valueEnded = (at: number) => {
    cut = { at, closers };
    isValue = false;
  };
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = stringEnd(text, at);
        if (end === -1) return cut;
        at = end - 1;
        if (isValue || closers.startsWith(']')) valueEnded(end);
        break;
      }
      case '{':
      case '[':
        if (closers.length === DEPTH_MAX) return cut;
        closers = (text[at] === '{' ? '}' : ']') + closers;
        valueEnded(at + 1);
        break;
      case '}':
      case ']':
        closers = closers.slice(1);
        valueEnded(at + 1);
        break;
      case ',':
        valueEnded(at);
        break;
      case ':':
        isValue = true;
    }
  }
  return cut;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}
