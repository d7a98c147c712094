/** Owns finding the first byte of a text that is not UTF-8, slice by slice. */

import { isUtf8 } from 'node:buffer';

/**
 * Checks `bytes[from, to)` and returns where the next slice begins: at most three bytes before `to`, so that no character is cut.
 * A negative result is `-1 - offset` of the first byte of an ill-formed sequence.
 */
export function checkUtf8(bytes: Uint8Array, from: number, to: number): number {
  const until = to === bytes.length ? to : characterStart(bytes, from, to);
  const slice = from === 0 && until === bytes.length ? bytes : bytes.subarray(from, until);
  return isUtf8(slice) ? until : -1 - firstIllFormed(bytes, from, until);
}

/** The largest position up to `to` that is not inside a character, as far as the lead bytes tell. */
function characterStart(bytes: Uint8Array, from: number, to: number): number {
  for (let start = to; start > from && start > to - 4; start--) {
    if (((bytes[start] as number) & 0xc0) !== 0x80) return start;
  }
  return to;
}

function firstIllFormed(bytes: Uint8Array, from: number, to: number): number {
  let pos = from;
  while (pos < to) {
    const length = characterBytes(bytes, pos, to);
    if (length === 0) return pos;
    pos += length;
  }
  return to;
}

/** The length of the character at `pos` by table 3-7 of the Unicode Standard, or 0 when none is well-formed there. */
function characterBytes(bytes: Uint8Array, pos: number, to: number): number {
  const lead = bytes[pos] as number;
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || pos + length > to) return 0;
  const second = bytes[pos + 1] as number;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let i = 2; i < length; i++) if (((bytes[pos + i] as number) & 0xc0) !== 0x80) return 0;
  return length;
}
