/** Owns what is left of a tool call's arguments that were cut off: the members that came whole. */
import { parseObject } from '../json.ts';

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
