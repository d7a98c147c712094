/** Decodes HTTP/1.1 chunked bodies incrementally. */

/** Decoder state: what the next byte belongs to. */
type Stage = 'size' | 'extension' | 'content' | 'content-cr' | 'content-lf' | 'trailer' | 'trailer-line';

export interface ChunkedDecoder {
  /**
   * Consumes bytes from index `from` on and passes the body's bytes to `onBody`. Returns the index after the body's
   * last byte, or -1 when the body continues after `bytes`. Throws an Error that names the byte and the stage when the
   * encoding is invalid.
   */
  push(bytes: Buffer, from: number): number;
}

const LF = 10;
const CR = 13;
const SEMICOLON = 59;
const CHUNK_BYTES_MAX = 0x7fffffff;

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** A decoder for one body (RFC 9112, section 7.1). Skips extensions and trailers. */
export function createChunkedDecoder(onBody: (bytes: Buffer) => void): ChunkedDecoder {
  let stage: Stage = 'size';
  let size = 0;
  let digits = 0;
  let remaining = 0;

  function fail(byte: number): never {
    throw new Error(`chunked body: byte ${byte} is not allowed in its ${stage}`);
  }

  function afterSizeLine(): Stage {
    if (digits === 0) fail(LF);
    remaining = size;
    size = 0;
    digits = 0;
    return remaining === 0 ? 'trailer' : 'content';
  }

  function takeSizeByte(byte: number): void {
    const value = hexDigit(byte);
    if (value >= 0) {
      size = size * 16 + value;
      digits += 1;
      if (size > CHUNK_BYTES_MAX) fail(byte);
    } else if (byte === LF) stage = afterSizeLine();
    else if (byte === CR || byte === SEMICOLON) stage = 'extension';
    else fail(byte);
  }

  function push(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      if (stage === 'content') {
        const end = Math.min(bytes.length, at + remaining);
        onBody(bytes.subarray(at, end));
        remaining -= end - at;
        at = end;
        if (remaining === 0) stage = 'content-cr';
        continue;
      }
      const byte = bytes[at] ?? 0;
      at += 1;
      if (stage === 'size') takeSizeByte(byte);
      else if (stage === 'extension') {
        if (byte === LF) stage = afterSizeLine();
      } else if (stage === 'content-cr') {
        if (byte !== CR) fail(byte);
        stage = 'content-lf';
      } else if (stage === 'content-lf') {
        if (byte !== LF) fail(byte);
        stage = 'size';
      } else if (stage === 'trailer') {
        if (byte === LF) return at;
        if (byte !== CR) stage = 'trailer-line';
      } else if (byte === LF) stage = 'trailer';
    }
    return -1;
  }

  return { push };
}
