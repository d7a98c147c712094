/** Owns looking at the bytes of a string four at a time. */

/** A byte array with a 32-bit view over the same memory. */
export interface WordView {
  readonly bytes: Uint8Array;
  /** Little-endian words; word `i` holds the bytes from `4 * i - shift` on. */
  readonly words: Int32Array;
  /** How far the first byte lies behind a word boundary: 0–3. */
  readonly shift: number;
}

/** Lays the word view over `bytes`, whatever their alignment; copies nothing. A part of a word at the end is left out. */
export function viewWords(bytes: Uint8Array): WordView {
  const shift = bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset - shift, (bytes.length + shift) >> 2);
  return { bytes, words, shift };
}

/**
 * The bytes of `word` at which a string stops (a quote, a backslash, a control character): bit 7 of each is set in the result, of
 * which only the lowest bit is exact. Flipping bit 1 puts the quote right behind the control characters, so that one subtraction
 * finds both; bytes from 0x80 on never count.
 */
export function stopsIn(word: number): number {
  return (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
}

/** `word` with its first `count` (0–3) bytes changed into bytes that never count. */
export function skipBytes(word: number, count: number): number {
  return word | (0x00808080 & ((1 << (count << 3)) - 1));
}

/** Which byte of the word (0–3) the lowest bit of a result of `stopsIn` is about. */
export function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}
