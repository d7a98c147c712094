/** Parses the text of command-line flags into values. Invalid text is wrong usage; the error says what was expected. */
import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../lib/duration.ts';

/** `a,b*` → its parts, trimmed. */
export function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) {
    throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected names separated by single commas.`);
  }
  return parts;
}

/** Means that a restriction is lifted. The command-line parser takes null for no value at all, so a word is needed. */
export const REMOVED_LIMIT = 'lifted';
export type RemovedLimit = typeof REMOVED_LIMIT;

/** As `parseList`; the word that lifts the restriction (`*`, `any`) becomes `REMOVED_LIMIT`. */
export function parseListOr(word: string): (text: string) => string[] | RemovedLimit {
  return (text) => (text.trim() === word ? REMOVED_LIMIT : parseList(text));
}

/** Converts a flag's value to a command argument: null if the restriction is lifted. */
export function orNull<Value>(value: Value | RemovedLimit | undefined): Value | null | undefined {
  return value === REMOVED_LIMIT ? null : (value as Value | undefined);
}

/** `30d` → ms. */
export function parseSpan(text: string): number {
  try {
    return parseDurationMs(text);
  } catch (fault) {
    throw new InvalidArgumentError(`${fault instanceof Error ? fault.message : String(fault)}.`);
  }
}

/** `30d` → ms, `never` → `REMOVED_LIMIT`. */
export function parseExpiry(text: string): number | RemovedLimit {
  if (text === 'never') return REMOVED_LIMIT;
  const spanMs = parseSpan(text);
  if (spanMs === 0) throw new InvalidArgumentError('found zero, expected a duration such as 30d, or never.');
  return spanMs;
}

/** One of a few words, which the command checks; `inherit` becomes `REMOVED_LIMIT`. */
export function parseInherited(text: string): string | RemovedLimit {
  return text === 'inherit' ? REMOVED_LIMIT : text;
}

/** A whole number of days; the word that inherits the setting becomes `REMOVED_LIMIT`. */
export function parseDaysOr(word: string): (text: string) => number | RemovedLimit {
  return (text) => {
    if (text === word) return REMOVED_LIMIT;
    if (/^\d{1,6}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a whole number of days, or ${word}.`);
  };
}

/** `on` or `off`. */
export function parseSwitch(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected on or off.`);
}

/** `1204:9f86d0…`: a ledger entry and its hash. */
export function parseNoted(text: string): { entry: number; hash: string } {
  const [, entry, hash] = /^([1-9]\d{0,14}):([0-9a-fA-F]{64})$/.exec(text) ?? [];
  if (entry !== undefined && hash !== undefined) return { entry: Number(entry), hash: hash.toLowerCase() };
  throw new InvalidArgumentError(
    `found ${JSON.stringify(text)}, expected an entry number, a colon and the entry’s hash of 64 hexadecimal digits, as verify prints them.`,
  );
}

/** A whole number from 1 to `max`. */
export function parseCount(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count < 1 || count > max) {
      throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a whole number from 1 to ${max}.`);
    }
    return count;
  };
}
