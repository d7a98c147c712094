/** Finds the words and phrases of a rule, whatever their case, where they are not a part of a longer word. */
import { isAfterEscape, type Match, type Matcher } from './matcher.ts';

interface Node {
  /** By folded UTF-16 unit. */
  readonly next: Map<number, Node>;
  /** The term that ends here; null: none does. */
  term: string | null;
}

const LABEL = 'TERM';

/** A tree of all terms, walked from each place where one may begin. */
export class TermMatcher implements Matcher {
  readonly #root: Node = { next: new Map(), term: null };
  readonly #lengthMax: number;

  constructor(terms: readonly string[]) {
    for (const term of terms) this.#add(term.trim());
    this.#lengthMax = Math.max(0, ...terms.map(({ length }) => length));
  }

  find(text: string, from: number, found: Match[]): void {
    for (let start = from; start < text.length; start++) {
      const { end, name } = this.#walk(text, start);
      if (end === -1) continue;
      found.push({ start, end, name, label: LABEL, isTooLong: false });
      start = end - 1;
    }
  }

  openFrom(text: string, from: number): number {
    for (let start = Math.max(from, text.length - this.#lengthMax); start < text.length; start++) {
      if (this.#walk(text, start).reachesEnd) return start;
    }
    return text.length;
  }

  #add(term: string): void {
    let node = this.#root;
    for (let index = 0; index < term.length; index++) {
      const unit = fold(term.charCodeAt(index));
      let next = node.next.get(unit);
      if (next === undefined) {
        next = { next: new Map(), term: null };
        node.next.set(unit, next);
      }
      node = next;
    }
    if (node !== this.#root) node.term ??= term;
  }

  /** The end of the longest term from `start` on; -1: none. `reachesEnd`: further text may change that. */
  #walk(text: string, start: number): Walk {
    let node = this.#root.next.get(fold(text.charCodeAt(start)));
    if (node === undefined || isInWord(text, start)) return NOT_FOUND;
    let end = -1;
    let name = '';
    for (let at = start + 1; ; at++) {
      if (node.term !== null && !isInWord(text, at)) {
        end = at;
        name = node.term;
      }
      if (at === text.length) return { end, name, reachesEnd: true };
      node = node.next.get(fold(text.charCodeAt(at)));
      if (node === undefined) return { end, name, reachesEnd: false };
    }
  }
}

interface Walk {
  readonly end: number;
  readonly name: string;
  readonly reachesEnd: boolean;
}

const NOT_FOUND: Walk = { end: -1, name: '', reachesEnd: false };

/** Whether the characters around a place are of the same word. */
function isInWord(text: string, at: number): boolean {
  if (at === 0 || at >= text.length || isAfterEscape(text, at)) return false;
  return isOfWord(text.charCodeAt(at - 1)) && isOfWord(text.charCodeAt(at));
}

const WORD = /[\p{L}\p{N}_]/u;
const ofWord = new Map<number, boolean>();

/** Halves of characters outside the basic plane count as letters. */
function isOfWord(unit: number): boolean {
  if (unit < 128)
    return (
      (unit >= 0x61 && unit <= 0x7a) ||
      (unit >= 0x41 && unit <= 0x5a) ||
      (unit >= 0x30 && unit <= 0x39) ||
      unit === 0x5f
    );
  let is = ofWord.get(unit);
  if (is === undefined) {
    is = (unit >= 0xd800 && unit <= 0xdfff) || WORD.test(String.fromCharCode(unit));
    ofWord.set(unit, is);
  }
  return is;
}

const folded = new Map<number, number>();

/** White space is one space; a letter whose small form has another length stays as it is. */
function fold(unit: number): number {
  if (unit < 128) {
    if (unit >= 0x41 && unit <= 0x5a) return unit + 32;
    return unit >= 0x09 && unit <= 0x0d ? 0x20 : unit;
  }
  let small = folded.get(unit);
  if (small === undefined) {
    const text = String.fromCharCode(unit).toLowerCase();
    small = text === '\u00a0' ? 0x20 : text.length === 1 ? text.charCodeAt(0) : unit;
    folded.set(unit, small);
  }
  return small;
}
