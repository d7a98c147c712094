/** Extracts short, printable excerpts from callers' text, and the phrases and numbers for made-up values. */

/** Enough for any excerpt; the rest of a long text is not read. */
const CHARS_READ_MAX = 2_000;

/** One line of at most `max` characters, white space collapsed, control characters removed, cut with an ellipsis. */
export function excerptText(text: string, max: number): string {
  const read = text.slice(0, CHARS_READ_MAX).toWellFormed();
  const line = read.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const characters = Array.from(line);
  if (characters.length <= max && text.length <= CHARS_READ_MAX) return line;
  const kept = characters.slice(0, max - 1).join('');
  return `${kept.trimEnd()}…`;
}

/**
 * Words and numbers of the user's message for the members of a made-up value. Each is returned once, so that members
 * differ.
 */
export class Material {
  readonly #phrases: readonly string[];
  readonly #numbers: number[];
  #taken = 0;
  /** The count of values that only a number distinguishes. */
  ordinal = 0;

  constructor(text: string) {
    this.#phrases = [...new Set(findPhrases(text))];
    this.#numbers = findNumbers(text);
  }

  /** The next phrase of the message; after the last one, the member's name with a number. */
  takePhrase(name: string): string {
    return this.#phrases[this.#taken++] ?? `${name === '' ? 'value' : name} ${this.#taken - this.#phrases.length}`;
  }

  /** The next number of the message that fits; undefined if none is left. */
  takeNumber(fits: (value: number) => boolean): number | undefined {
    const at = this.#numbers.findIndex(fits);
    return at < 0 ? undefined : this.#numbers.splice(at, 1)[0];
  }
}

/** Best first: quoted text, then names (capitalized words that do not begin a sentence), then the message itself. */
function findPhrases(text: string): readonly string[] {
  const line = excerptText(text, 400);
  const quoted = [...line.matchAll(/["“«]([^"”»]{1,80})["”»]/g)].map((match) => match[1] ?? '');
  const names = line.match(/(?<=[^.!?\s]\s)\p{Lu}[\p{L}\p{N}'’-]+(?: \p{Lu}[\p{L}\p{N}'’-]+)*/gu) ?? [];
  return [...quoted, ...names, excerptText(text, 120)].filter((phrase) => phrase !== '');
}

function findNumbers(text: string): number[] {
  const matches = excerptText(text, 400).match(/(?<![\p{L}\p{N}.])-?\d{1,12}(?:\.\d{1,6})?(?![\p{L}\p{N}])/gu) ?? [];
  return matches.map(Number);
}
