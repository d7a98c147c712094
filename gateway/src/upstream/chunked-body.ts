/** Owns the chunked transfer coding of RFC 9112 section 7.1: bytes in, payload spans out, no copy. Knows no socket. */

const LINE_BYTES_MAX = 1024;
const TRAILER_BYTES_MAX = 16 * 1024;
const CR = 13;
const LF = 10;

type State = 'size' | 'payload' | 'payload-end' | 'trailer' | 'done';

/** Decodes one body. `push` hands each payload span to `onPayload` and answers the bytes it took, or a string: what is wrong. */
export class ChunkedBody {
  #state: State = 'size';
  #left = 0;
  #line = '';
  #trailerBytes = 0;

  get done(): boolean {
    return this.#state === 'done';
  }

  /** Takes bytes from `start`. After the end of the body it takes nothing more: what is left is not the body's. */
  push(bytes: Buffer, start: number, onPayload: (span: Buffer) => void): number | string {
    let at = start;
    while (at < bytes.length && this.#state !== 'done') {
      if (this.#state === 'payload') {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        onPayload(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
        at = end;
        if (this.#left === 0) this.#state = 'payload-end';
        continue;
      }
      const lineEnd = bytes.indexOf(LF, at);
      const taken = lineEnd === -1 ? bytes.length : lineEnd + 1;
      if (this.#line.length + taken - at > LINE_BYTES_MAX) return 'a chunk header or trailer line is too long';
      this.#line += bytes.toString('latin1', at, taken);
      at = taken;
      if (lineEnd === -1) return at;
      const problem = this.#endLine();
      if (problem !== null) return problem;
    }
    return at;
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
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'payload';
    return null;
  }
}

function parseChunkSize(text: string): number | null {
  const extension = text.indexOf(';');
  const digits = (extension === -1 ? text : text.slice(0, extension)).trimEnd();
  return /^[0-9A-Fa-f]{1,12}$/.test(digits) ? Number.parseInt(digits, 16) : null;
}
