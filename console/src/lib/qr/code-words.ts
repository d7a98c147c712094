/** Owns the bytes of a QR code: the text with its length and padding, in blocks with their check bytes, in the order they are drawn. */
import { checkBytes } from './reed-solomon.ts';

/** Blocks of error correction level L: check bytes of each, and the data bytes of each (ISO/IEC 18004, table 9). */
interface Layout {
  readonly check: number;
  readonly blocks: readonly number[];
}

/** Versions 1 to 10; 10 holds 271 bytes, more than any authenticator's address has. */
const LAYOUTS: readonly Layout[] = [
  { check: 7, blocks: [19] },
  { check: 10, blocks: [34] },
  { check: 15, blocks: [55] },
  { check: 20, blocks: [80] },
  { check: 26, blocks: [108] },
  { check: 18, blocks: [68, 68] },
  { check: 20, blocks: [78, 78] },
  { check: 24, blocks: [97, 97] },
  { check: 30, blocks: [116, 116] },
  { check: 18, blocks: [68, 68, 69, 69] },
];

export interface CodeWords {
  /** 1 to 10: how large the code is. */
  readonly version: number;
  readonly bytes: readonly number[];
}

/** Null: the text is longer than the largest code here holds. */
export function codeWords(text: string): CodeWords | null {
  const content = new TextEncoder().encode(text);
  for (const [index, layout] of LAYOUTS.entries()) {
    const version = index + 1;
    const room = layout.blocks.reduce((sum, size) => sum + size, 0);
    const lengthBytes = version < 10 ? 1 : 2;
    // Four bits of mode stand before the length, and four of an end behind the text: a byte together.
    if (content.length + lengthBytes + 1 > room) continue;
    return { version, bytes: interleaved(padded(content, lengthBytes, room), layout) };
  }
  return null;
}

const BYTE_MODE = 0b0100;
const PADS = [0xec, 0x11];

function padded(content: Uint8Array, lengthBytes: number, room: number): readonly number[] {
  const length = lengthBytes === 1 ? [content.length] : [content.length >> 8, content.length & 255];
  // Everything is half a byte late, because the mode takes four bits.
  const late = [...length, ...content, 0];
  const bytes = late.map(
    (byte, index) => (((index === 0 ? BYTE_MODE : (late[index - 1] ?? 0)) & 15) << 4) | (byte >> 4),
  );
  while (bytes.length < room) bytes.push(PADS[(bytes.length - late.length) % 2] ?? 0);
  return bytes;
}

/** First bytes of all blocks, second bytes of all, and so on; then the check bytes alike. */
function interleaved(bytes: readonly number[], { check, blocks }: Layout): readonly number[] {
  let start = 0;
  const parts = blocks.map((size) => {
    start += size;
    return bytes.slice(start - size, start);
  });
  return [...inTurns(parts), ...inTurns(parts.map((part) => checkBytes(part, check)))];
}

function inTurns(parts: readonly (readonly number[])[]): readonly number[] {
  const longest = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => parts.flatMap((part) => part.slice(index, index + 1))).flat();
}
