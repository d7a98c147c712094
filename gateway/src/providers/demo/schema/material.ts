/** Owns the words and numbers of the user's message that values are made of. Takes them in turn, so that members differ. */
import { findNumbers, findPhrases } from '../excerpt.ts';

export interface Material {
  /** The next phrase of the message; after the last one, the member's name with a number. */
  takePhrase(name: string): string;
  /** The next number that the message names and that fits; null when none is left. */
  takeNumber(fits: (value: number) => boolean): number | null;
  /** 1, 2, 3 …: a new one for each call. */
  nextOrdinal(): number;
}

export function startMaterial(text: string): Material {
  const phrases = [...new Set(findPhrases(text))];
  const numbers = [...findNumbers(text)];
  let taken = 0;
  let ordinal = 0;
  return {
    takePhrase: (name) => phrases[taken++] ?? `${name === '' ? 'value' : name} ${taken - phrases.length}`,
    takeNumber: (fits) => {
      const at = numbers.findIndex(fits);
      return at < 0 ? null : (numbers.splice(at, 1)[0] ?? null);
    },
    nextOrdinal: () => ++ordinal,
  };
}
