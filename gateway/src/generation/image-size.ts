/** Owns reading an image's width and height from the beginning of its bytes (PNG, JPEG, GIF, WebP). Decodes no image. */

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Of base64; enough for the head of a JPEG behind its thumbnail and colour profile. */
const HEAD_CHARACTERS_MAX = 131_072;

/** The size in pixels that a base64 image says of itself; null where its head says none, or it is of another kind. */
export function readImageSize(base64: string): ImageSize | null {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS_MAX), 'base64');
  const size = readPng(head) ?? readGif(head) ?? readWebp(head) ?? readJpeg(head);
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

function startsWith(bytes: Buffer, text: string, at: number): boolean {
  return bytes.length >= at + text.length && bytes.toString('latin1', at, at + text.length) === text;
}

/** PNG, third edition, 11.2.1: the first chunk is IHDR. */
function readPng(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, '\u0089PNG', 0) || bytes.length < 24) return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** GIF89a, 18: the logical screen. */
function readGif(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, 'GIF8', 0) || bytes.length < 10) return null;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** RFC 9649, 2.5 to 2.7: a simple lossy file, a simple lossless one, or an extended one. */
function readWebp(bytes: Buffer): ImageSize | null {
  if (!startsWith(bytes, 'RIFF', 0) || !startsWith(bytes, 'WEBP', 8) || bytes.length < 30) return null;
  if (startsWith(bytes, 'VP8 ', 12)) {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (startsWith(bytes, 'VP8L', 12)) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!startsWith(bytes, 'VP8X', 12)) return null;
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}

/** ITU-T T.81, B.2.2: the first frame header among the segments. */
function readJpeg(bytes: Buffer): ImageSize | null {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number;
    // C4, C8 and CC stand among the frame headers and are none.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
