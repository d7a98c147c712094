/** Examines the bytes of a string four at a time. */

/** A byte array with a 32-bit view over the same memory. */
export interface TypedView {
  readonly bytes: Uint8Array;
  /** Little-endian words; word `i` holds the bytes from `4 * i - shift` on. */
  readonly words: Int32Array;
  /** Offset of the first byte from a word boundary: 0–3. */
  readonly shift: number;
}

/**
 * Lays the word view over `bytes`, whatever their alignment; copies nothing. An incomplete word at the end is omitted.
 */
export function viewWords(bytes: Uint8Array): TypedView {
  const shift = bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset - shift, (bytes.length + shift) >> 2);
  return { bytes, words, shift };
}

/**
 * The bytes of `word` that stop a string (a quote, a backslash, a control character): sets bit 7 of each. Only the
 * lowest set bit is exact. Flipping bit 1 puts the quote right after the control characters, so that one subtraction
 * finds both; bytes from 0x80 on are never matched.
 */
export function stopsIn(word: number): number {
  return (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
}

/** `word` with its first `count` (0–3) bytes replaced by bytes that are never matched. */
export function skipBytes(word: number, count: number): number {
  return word | (0x00808080 & ((1 << (count << 3)) - 1));
}

/** The byte of the word (0–3) that the lowest bit of a `stopsIn` result refers to. */
export function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}
