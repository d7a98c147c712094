/** Owns finding the first of several texts in a text that comes in pieces, a code unit at a time, however it was split. */

/** A text that is looked for, and what has matched of it. */
interface Wanted {
  readonly text: string;
  /** Its first code unit. */
  readonly first: string;
  /** For each length of a match so far: the length of the next shorter one that ends in the same place (Knuth, Morris, Pratt). */
  readonly shorter: readonly number[];
  matched: number;
}

/** What a piece held: `end` is the offset in the piece behind the text that was found first; `start` may lie before the piece. */
export interface TextMatch {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface TextMatcher {
  /** Reads a piece up to the first text that is complete (of several that end together: the longest); null: none was. */
  read(piece: string): TextMatch | null;
  /** How many of the last code units could be the beginning of a text. */
  readonly heldChars: number;
}

/** Texts to look for; one without a character is a mistake of the caller's and throws. */
export function startMatcher(texts: readonly string[]): TextMatcher {
  const wanted = texts.map(prepare);
  return {
    read(piece) {
      if (cannotTouch(wanted, piece)) return null;
      for (let index = 0; index < piece.length; index++) {
        const found = advanceAll(wanted, piece.charCodeAt(index));
        if (found !== null) return { text: found, start: index + 1 - found.length, end: index + 1 };
      }
      return null;
    },
    get heldChars() {
      let most = 0;
      for (const { matched } of wanted) if (matched > most) most = matched;
      return most;
    },
  };
}

/** Nothing has begun to match and nothing begins in this piece: most pieces are so, and native code sees it far sooner. */
function cannotTouch(wanted: readonly Wanted[], piece: string): boolean {
  for (const { matched, first } of wanted) if (matched > 0 || piece.includes(first)) return false;
  return true;
}

/** The longest text that is complete with this code unit. */
function advanceAll(wanted: readonly Wanted[], unit: number): string | null {
  let found: string | null = null;
  for (const one of wanted) {
    advance(one, unit);
    if (one.matched === one.text.length && one.text.length > (found?.length ?? 0)) found = one.text;
  }
  return found;
}

function advance(one: Wanted, unit: number): void {
  while (one.matched > 0 && one.text.charCodeAt(one.matched) !== unit) one.matched = one.shorter[one.matched] ?? 0;
  if (one.text.charCodeAt(one.matched) === unit) one.matched += 1;
}

function prepare(text: string): Wanted {
  if (text === '') throw new Error('a text to look for is empty: it would be found everywhere');
  const shorter = [0, 0];
  let length = 0;
  for (let index = 1; index < text.length; index++) {
    while (length > 0 && text.charCodeAt(index) !== text.charCodeAt(length)) length = shorter[length] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(length)) length += 1;
    shorter.push(length);
  }
  return { text, first: text.charAt(0), shorter, matched: 0 };
}
