/**
 * Checks the arguments of one tool call as they arrive: whether their JSON has ended, and whether it is an object. Also
 * repairs arguments that were cut off.
 */
import { JsonEnd } from '../../generation/json-end.ts';
import { parseObject } from '../json.ts';

/** `empty`: at most white space, which means no arguments; `broken`: not a JSON object, or an incomplete one. */
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

  /** Whether the outermost bracket has closed: only white space may follow. */
  get hasEnded(): boolean {
    return this.#end === null;
  }

  judge(): ArgumentsState {
    this.#judged ??= checkArguments(this.#text);
    return this.#judged;
  }
}

/** The state of arguments in one piece. */
export function checkArguments(text: string): ArgumentsState {
  if (text.trim() === '') return 'empty';
  return parseObject(text) === null ? 'broken' : 'whole';
}

/** Where to cut the text, and the brackets that close it. */
interface Cut {
  readonly at: number;
  readonly closers: string;
}

/** Deeper than any tool's arguments; deeper content is dropped. */
const DEPTH_MAX = 512;

/** A JSON object: the text unchanged if it is one, else its complete members, else `{}`. */
export function keepWholeMembers(text: string): string {
  const { at, closers } = lastCut(text);
  const repaired = text.slice(0, at) + closers;
  return parseObject(repaired) === null ? '{}' : repaired;
}

/** The last position after a complete value. Numbers and literals are complete only if something follows them. */
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
