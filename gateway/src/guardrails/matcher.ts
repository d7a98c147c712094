/** Defines how texts are searched, whole and as they arrive. */

/** The longest text that a rule recognizes as one, in UTF-16 units. A longer one could not be checked. */
export const MATCH_LENGTH_MAX = 4_096;

/** `text[start, end)` was found. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** The detector, or the term as its rule has it. */
  readonly name: string;
  /** The word in its mask. */
  readonly label: string;
  /** It may go on beyond the maximum length, so it is not known what it is. */
  readonly isTooLong: boolean;
}

/**
 * Searches a text from left to right, in time linear in its length. Matches from a place on must not depend on
 * the text more than `CONTEXT_LENGTH` units before it.
 */
export interface Matcher {
  /** Adds the matches that begin at `from` or later, in order, none overlapping another. */
  find(text: string, from: number, found: Match[]): void;
  /**
   * The first place at `from` or later where a match may begin that further text completes, prolongs or undoes; the
   * length of the text without one. Matches that begin before it are final.
   */
  openFrom(text: string, from: number): number;
}

/** How much of the text before a place decides whether a match may begin there. */
export const CONTEXT_LENGTH = 13;

/**
 * Escapes within a text: of white space and characters in JSON and code, of colors in the output of programs, of
 * characters in addresses. What follows one is no part of the word that the letters of the escape would make with it.
 */
const IN_TEXT = /\\(?:[bfnrt]|u[0-9A-Fa-f]{4})|\[[0-9;]{0,11}m/;
const IN_ADDRESS = /%[0-9A-Fa-f]{2}/;
const AFTER_ESCAPE = new RegExp(`(?:${IN_TEXT.source}|${IN_ADDRESS.source})$`);
const AFTER_IN_TEXT = new RegExp(`(?:${IN_TEXT.source})$`);
const LAST = charClass(/[0-9A-Fa-fmnrt]/);

/** Tells whether an escape ends at a place. */
function endingWith(form: RegExp): (text: string, at: number) => boolean {
  return (text, at) =>
    isIn(LAST, text.charCodeAt(at - 1)) && form.test(text.slice(Math.max(0, at - CONTEXT_LENGTH), at));
}

export const isAfterEscape = endingWith(AFTER_ESCAPE);
/** Not after the escapes of addresses, which are also a part of e-mail addresses. */
export const isAfterEscapeInText = endingWith(AFTER_IN_TEXT);

/** The source of a pattern that matches where no character of the class comes before, unless it ends an escape. */
export function notAfter({ source }: RegExp): string {
  return `(?<!${source}(?<!${IN_TEXT.source}|${IN_ADDRESS.source}))`;
}

/** Whether an ASCII character is of a class; others are not. */
export type CharClass = Uint8Array;

/** `pattern`: of one character. */
export function charClass(pattern: RegExp): CharClass {
  const table = new Uint8Array(128);
  for (let code = 0; code < 128; code++) if (pattern.test(String.fromCharCode(code))) table[code] = 1;
  return table;
}

export function isIn(set: CharClass, code: number): boolean {
  return code < 128 && set[code] === 1;
}

/** The start of the run of the class at the end of the text, at most `lengthMax` long and not before `from`. */
export function tailRun(text: string, from: number, set: CharClass, lengthMax: number): number {
  return tailStart(text, Math.max(from, text.length - lengthMax), text.length, set);
}

/** The start of the run of the class that ends at `end`, not before `least`. */
export function tailStart(text: string, least: number, end: number, set: CharClass): number {
  let start = end;
  while (start > least && isIn(set, text.charCodeAt(start - 1))) start -= 1;
  return start;
}

/** The end of the run of the class from `start` on, at most `lengthMax` long. */
export function runEnd(text: string, start: number, set: CharClass, lengthMax: number): number {
  const most = Math.min(text.length, start + lengthMax);
  let end = start;
  while (end < most && isIn(set, text.charCodeAt(end))) end += 1;
  return end;
}
