/** Owns the checks of single members that both protocols share. Each returns the value or refuses the body. */
import { type Path, refuse } from './body-problem.ts';
import { isAbsent, isObject, type JsonObject } from './json-value.ts';

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
}

/** A number within the range, or null where the member is absent. */
export function checkNumber(value: unknown, path: Path, range: NumberRange): number | null {
  if (isAbsent(value)) return null;
  const fits =
    typeof value === 'number' &&
    value >= range.min &&
    value <= range.max &&
    (range.integer !== true || Number.isInteger(value));
  if (fits) return value;
  const kind = range.integer === true ? 'an integer' : 'a number';
  const bounds =
    range.max === Number.MAX_SAFE_INTEGER ? `of at least ${range.min}` : `from ${range.min} to ${range.max}`;
  return refuse(path, value, `${kind} ${bounds}`);
}

export function checkBoolean(value: unknown, path: Path): boolean {
  if (isAbsent(value)) return false;
  return typeof value === 'boolean' ? value : refuse(path, value, 'true or false');
}

export function checkString(value: unknown, path: Path, wanted = 'a string'): string {
  return typeof value === 'string' ? value : refuse(path, value, wanted);
}

export function checkText(value: unknown, path: Path, wanted: string): string {
  return typeof value === 'string' && value.length > 0 ? value : refuse(path, value, wanted);
}

export function checkObject(value: unknown, path: Path, wanted = 'an object'): JsonObject {
  return isObject(value) ? value : refuse(path, value, wanted);
}

export function checkArray(value: unknown, path: Path, wanted = 'an array'): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, value, wanted);
}

/** One of the words, or null where the member is absent. */
export function checkWord(value: unknown, path: Path, words: readonly string[]): string | null {
  return isAbsent(value) ? null : checkRequiredWord(value, path, words);
}

export function checkRequiredWord(value: unknown, path: Path, words: readonly string[]): string {
  return typeof value === 'string' && words.includes(value) ? value : refuse(path, value, `one of ${words.join(', ')}`);
}

/** Stop texts: none of them empty, since an empty text would stop every answer before it begins. */
export function checkStops(value: readonly unknown[], path: Path): readonly string[] {
  return value.map((stop, at) => checkText(stop, [...path, at], 'a text of at least one character'));
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The size in bytes of what a base64 text decodes to. */
export function checkBase64(value: unknown, path: Path): number {
  const text = checkText(value, path, 'base64 text');
  if (text.length % 4 !== 0 || !BASE64.test(text))
    refuse(path, text, 'base64 text with its padding and no line breaks');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
