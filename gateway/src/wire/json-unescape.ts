/** Owns turning the escapes of a checked JSON string into bytes. Strings for callers are decoded by json-node.ts. */

import { BACKSLASH, LETTER_U } from './json-bytes.ts';

const LETTERS: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9 }).map(([letter, byte]) => [letter.charCodeAt(0), byte]),
);

/**
 * Writes the content `source[start, end)` without escapes to `target` and returns how many bytes that took (never more than it
 * had). A lone surrogate becomes its own three bytes (WTF-8), which no UTF-8 text can contain: two strings give the same bytes
 * exactly when they are the same string.
 */
export function unescapeBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  let from = start;
  while (from < end) {
    const byte = source[from] as number;
    if (byte !== BACKSLASH) {
      target[to++] = byte;
      from++;
    } else if (source[from + 1] !== LETTER_U) {
      const letter = source[from + 1] as number;
      target[to++] = LETTERS.get(letter) ?? letter;
      from += 2;
    } else {
      const unit = hexUnit(source, from);
      const low = isHigh(unit) && from + 12 <= end ? hexUnit(source, from + 6) : 0;
      const paired = low >= 0xdc00 && low <= 0xdfff;
      to = writeCodePoint(target, to, paired ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : unit);
      from += paired ? 12 : 6;
    }
  }
  return to - at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The code unit of the `\uXXXX` at `from`, or 0 where something else stands. */
function hexUnit(source: Uint8Array, from: number): number {
  if (source[from] !== BACKSLASH || source[from + 1] !== LETTER_U) return 0;
  let unit = 0;
  for (let i = from + 2; i < from + 6; i++) {
    const digit = source[i] as number;
    unit = (unit << 4) | (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57);
  }
  return unit;
}

function writeCodePoint(target: Uint8Array, at: number, point: number): number {
  let to = at;
  if (point < 0x80) {
    target[to++] = point;
  } else if (point < 0x800) {
    target[to++] = 0xc0 | (point >> 6);
    target[to++] = 0x80 | (point & 0x3f);
  } else {
    if (point < 0x10000) {
      target[to++] = 0xe0 | (point >> 12);
    } else {
      target[to++] = 0xf0 | (point >> 18);
      target[to++] = 0x80 | ((point >> 12) & 0x3f);
    }
    target[to++] = 0x80 | ((point >> 6) & 0x3f);
    target[to++] = 0x80 | (point & 0x3f);
  }
  return to;
}
