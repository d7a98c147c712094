/** Decodes the chunked transfer coding of RFC 9112 section 7.1. Knows no socket. */

const LINE_BYTES_MAX = 1024;
const TRAILER_BYTES_MAX = 16 * 1024;
/** 12 hexadecimal digits: 256 TiB. */
const SIZE_DIGITS_MAX = 12;
const CR = 13;
const LF = 10;

type State = 'size' | 'payload' | 'payload-end' | 'trailer' | 'done';

/**
 * Decodes one body. A streaming host sends each event as its own chunk, and many arrive in one read: their payloads are
 * joined, so that later steps have one span to inspect and one write to make.
 */
export class ChunkedBody {
  #state: State = 'size';
  #left = 0;
  /** The start of a line that was split between two reads. */
  #line = '';
  #trailerBytes = 0;

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Takes bytes from `start` and passes their payload to `onPayload`, in one span, at most once. Returns the position
   * up to which it took bytes, or a string that describes the error. After the end of the body it takes nothing more:
   * the remaining bytes do not belong to the body.
   */
  push(bytes: Buffer, start: number, onPayload: (span: Buffer) => void): number | string {
    const gathered = new Payload(bytes);
    const outcome = this.#read(bytes, start, gathered);
    const payload = gathered.take();
    if (payload !== null) onPayload(payload);
    return outcome;
  }

  #read(bytes: Buffer, start: number, gathered: Payload): number | string {
    let at = start;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'payload') {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        gathered.add(at, end);
        at = end;
        if (this.#left === 0) this.#state = 'payload-end';
        continue;
      }
      const next = this.#line === '' ? this.#readWhole(bytes, at) : -1;
      if (next !== -1) {
        at = next;
        continue;
      }
      const taken = this.#readLine(bytes, at);
      if (typeof taken === 'string') return taken;
      at = taken;
    }
    return at;
  }

  /** Parses the common lines, complete and without an extension, byte by byte; -1 leaves the line to `#readLine`. */
  #readWhole(bytes: Buffer, start: number): number {
    if (this.#state === 'payload-end') {
      if (bytes[start] !== CR || bytes[start + 1] !== LF) return -1;
      this.#state = 'size';
      return start + 2;
    }
    if (this.#state !== 'size') return -1;
    let size = 0;
    let at = start;
    for (; at - start <= SIZE_DIGITS_MAX; at++) {
      const digit = hexDigit(bytes[at]);
      if (digit === -1) break;
      size = size * 16 + digit;
    }
    if (at === start || at - start > SIZE_DIGITS_MAX || bytes[at] !== CR || bytes[at + 1] !== LF) return -1;
    this.#begin(size);
    return at + 2;
  }

  #begin(size: number): void {
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'payload';
  }

  #readLine(bytes: Buffer, start: number): number | string {
    const lineEnd = bytes.indexOf(LF, start);
    const taken = lineEnd === -1 ? bytes.length : lineEnd + 1;
    if (this.#line.length + taken - start > LINE_BYTES_MAX) return 'a chunk header or trailer line is too long';
    this.#line += bytes.toString('latin1', start, taken);
    if (lineEnd === -1) return taken;
    return this.#endLine() ?? taken;
  }

  #endLine(): string | null {
    const line = this.#line;
    this.#line = '';
    if (line.charCodeAt(line.length - 2) !== CR) return 'a line of the chunked coding ends without CR';
    const text = line.slice(0, -2);
    if (this.#state === 'payload-end') {
      if (text !== '') return 'a chunk is longer than its size';
      this.#state = 'size';
      return null;
    }
    if (this.#state === 'trailer') {
      this.#trailerBytes += line.length;
      if (this.#trailerBytes > TRAILER_BYTES_MAX) return 'the trailers are too long';
      if (text === '') this.#state = 'done';
      return null;
    }
    const size = parseChunkSize(text);
    if (size === null) return 'a chunk size is malformed';
    this.#begin(size);
    return null;
  }
}

/** The payload within one read: a view if it is contiguous, else a joined copy of its parts. */
class Payload {
  readonly #bytes: Buffer;
  #start = -1;
  #end = -1;
  #joined: Buffer | null = null;
  #length = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  add(start: number, end: number): void {
    if (this.#start === -1) {
      this.#start = start;
      this.#end = end;
      return;
    }
    if (this.#joined === null) {
      this.#joined = Buffer.allocUnsafeSlow(this.#bytes.length - this.#start);
      this.#length = this.#bytes.copy(this.#joined, 0, this.#start, this.#end);
    }
    this.#length += this.#bytes.copy(this.#joined, this.#length, start, end);
  }

  take(): Buffer | null {
    if (this.#joined !== null) return owned(this.#joined.subarray(0, this.#length), this.#joined.length);
    if (this.#start === -1) return null;
    const whole = this.#start === 0 && this.#end === this.#bytes.length;
    return whole ? this.#bytes : owned(this.#bytes.subarray(this.#start, this.#end), this.#bytes.length);
  }
}

/** A span of memory that may be kept: a copy where most of the memory is no payload, which no limit counts. */
function owned(span: Buffer, memoryBytes: number): Buffer {
  if (span.length * 2 >= memoryBytes) return span;
  const copy = Buffer.allocUnsafeSlow(span.length);
  copy.set(span);
  return copy;
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function parseChunkSize(text: string): number | null {
  const extension = text.indexOf(';');
  const digits = (extension === -1 ? text : text.slice(0, extension)).trimEnd();
  return /^[0-9A-Fa-f]{1,12}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}
