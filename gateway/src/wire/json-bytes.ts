/** Names and classifies the bytes of JSON text (RFC 8259). */

export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DIGIT_0 = 0x30;
export const DIGIT_9 = 0x39;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const LETTER_U = 0x75;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Class of the byte after a backslash: 0 illegal, 1 a one-letter escape, 2 the `u` of a four-digit escape. */
export const ESCAPE_CLASS: Uint8Array = byteTable((char) => ('"\\/bfnrt'.includes(char) ? 1 : char === 'u' ? 2 : 0));

/**
 * 1 for bytes that need handling in a string: the quote, the backslash, and control characters, which JSON forbids raw.
 */
export const STRING_STOP: Uint8Array = byteTable((char) => (char < ' ' || char === '"' || char === '\\' ? 1 : 0));

/** 1 for a hexadecimal digit. */
export const HEX_DIGIT: Uint8Array = byteTable((char) => (/[0-9a-fA-F]/.test(char) ? 1 : 0));

function byteTable(classOf: (char: string) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => classOf(String.fromCharCode(byte)));
}

const LITERALS: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), word]),
);

/** The only literal that can begin with this byte, or an empty string. */
export function literalByFirstByte(byte: number | undefined): string {
  return LITERALS.get(byte ?? 0) ?? '';
}

/** The complete literal at `pos`, or undefined. */
export function literalAt(bytes: Uint8Array, pos: number, end: number): string | undefined {
  const word = literalByFirstByte(bytes[pos]);
  if (pos + word.length > end) return undefined;
  for (let i = 1; i < word.length; i++) if (bytes[pos + i] !== word.charCodeAt(i)) return undefined;
  return word;
}
