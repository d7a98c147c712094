/** Owns how an answer is cut into the pieces of a stream, and how long a piece takes. */

/** The wait before each piece: long enough that a person sees words arrive, short enough that no one waits for them. */
export const WORD_PAUSE_MS = 15;

/** Words (at most 24 characters of one) with the white space before them; the pieces joined are the text. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S{1,24}|\s+$/gu) ?? [];
}

/** Pieces of up to 16 code units that cut no character in two; for the arguments of tool calls. */
export function* splitFragments(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + 16, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield text.slice(start, end);
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
