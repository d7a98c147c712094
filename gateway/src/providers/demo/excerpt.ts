/** Owns the short, printable pieces of callers' text that the demo model repeats. Bounded whatever comes in. */

/** Enough to look at for any excerpt; the rest of a long text is never touched. */
const LOOKED_AT_MAX = 2_000;

/** One line of at most `max` characters, white space collapsed, control characters gone, cut with an ellipsis. */
export function excerptText(text: string, max: number): string {
  const line = text
    .slice(0, LOOKED_AT_MAX)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= max && text.length <= LOOKED_AT_MAX) return line;
  return `${characters
    .slice(0, max - 1)
    .join('')
    .trimEnd()}…`;
}

/**
 * The phrases of a message that are likely to be meant as arguments, best first: what stands in quotes, then names
 * (runs of capitalised words that do not open a sentence), then the message itself.
 */
export function findPhrases(text: string): readonly string[] {
  const line = excerptText(text, 400);
  const quoted = [...line.matchAll(/["“«]([^"”»]{1,80})["”»]/g)].map((match) => match[1] ?? '');
  const names = [...line.matchAll(/(?<=[^.!?\s]\s)\p{Lu}[\p{L}\p{N}'’-]+(?: \p{Lu}[\p{L}\p{N}'’-]+)*/gu)].map(
    ([name]) => name,
  );
  return [...quoted, ...names, excerptText(text, 120)].filter((phrase) => phrase !== '');
}

/** The numbers that a message names, in its order. */
export function findNumbers(text: string): readonly number[] {
  const matches = excerptText(text, 400).match(/(?<![\p{L}\p{N}.])-?\d{1,12}(?:\.\d{1,6})?(?![\p{L}\p{N}])/gu) ?? [];
  return matches.map(Number);
}
