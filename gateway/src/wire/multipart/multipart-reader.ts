/**
 * Reads a multipart/form-data body (RFC 7578) as it arrives, under any split of its bytes: the head of each part, the text
 * of the short ones, and where each value is within the body. Keeps nothing of a file. Source: other-endpoints.md, 1.2.
 */
import { charsetProblem, type PartHead, parsePartHead } from './part-head.ts';

const PARTS_MAX = 64;
const PART_HEAD_BYTES_MAX = 8 * 1024;
const PART_TEXT_BYTES_MAX = 64 * 1024;

/** One part. Its value is `[start, end)` of the body. */
export interface FormPart extends PartHead {
  readonly start: number;
  readonly end: number;
  /** Null: a file. */
  readonly text: string | null;
}

/** The body is not a form that this gateway takes. The message is for the caller. */
export class MultipartError extends Error {}

/** Bytes that are looked at together; a head and a boundary fit into it. */
const WINDOW_BYTES = 16 * 1024;
const CR = 13;
const LF = 10;
const DASH = 45;
const HEAD_END = Buffer.from('\r\n\r\n');
/** Libraries write no line end, one, or two (form-data-encoder). */
const EPILOGUE = HEAD_END;

/**
 * `open`: before the first boundary; `delimited`: after one; `head` and `value` of a part; `closed`: after the last
 * boundary.
 */
type State = 'open' | 'delimited' | 'head' | 'value' | 'closed';

export class MultipartReader {
  readonly #delimiter: Buffer;
  readonly #onPart: (part: FormPart) => void;
  readonly #window = Buffer.allocUnsafe(WINDOW_BYTES);
  #state: State = 'open';
  #filled = 0;
  /** The next byte of the window to read. */
  #at = 0;
  /** Where in the body the window begins. */
  #base = 0;
  #head: PartHead | null = null;
  #valueStart = 0;
  #text: Buffer[] = [];
  #textBytes = 0;
  #partCount = 0;

  /** `onPart` gets each part once its value has ended; what it throws, `push` throws. */
  constructor(boundary: string, onPart: (part: FormPart) => void) {
    this.#delimiter = Buffer.from(`--${boundary}`, 'latin1');
    this.#onPart = onPart;
  }

  /** Reads the next bytes of the body. Throws MultipartError. */
  push(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const to = Math.min(bytes.length, from + WINDOW_BYTES - this.#filled);
      this.#window.set(bytes.subarray(from, to), this.#filled);
      this.#filled += to - from;
      from = to;
      while (this.#step());
      this.#window.copyWithin(0, this.#at, this.#filled);
      this.#base += this.#at;
      this.#filled -= this.#at;
      this.#at = 0;
    }
  }

  /** The body has ended. Throws MultipartError if the form has not. */
  end(): void {
    if (this.#state !== 'closed') throw new MultipartError('it ends before its closing boundary');
  }

  /** False: more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'open':
        return this.#readOpening();
      case 'delimited':
        return this.#readDelimiterEnd();
      case 'head':
        return this.#readHead();
      case 'value':
        return this.#readValue();
      case 'closed':
        return this.#readEpilogue();
    }
  }

  #readOpening(): boolean {
    const start = this.#window[0] === CR ? 2 : 0;
    const end = start + this.#delimiter.length;
    if (this.#filled < end) return false;
    const found = this.#window.subarray(start, end);
    if ((start === 2 && this.#window[1] !== LF) || !found.equals(this.#delimiter)) {
      throw new MultipartError('it does not begin with the boundary that the content-type names');
    }
    this.#at = end;
    this.#state = 'delimited';
    return true;
  }

  #readDelimiterEnd(): boolean {
    if (this.#filled < this.#at + 2) return false;
    const isLast = this.#endsForm(this.#at);
    if (!isLast && !this.#isLineEnd(this.#at)) throw ambiguous();
    if (!isLast && this.#partCount === PARTS_MAX) throw new MultipartError(`it has more than ${PARTS_MAX} parts`);
    this.#at += 2;
    this.#state = isLast ? 'closed' : 'head';
    this.#partCount += 1;
    return true;
  }

  #readHead(): boolean {
    const end = this.#window.subarray(0, this.#filled).indexOf(HEAD_END, this.#at);
    if ((end === -1 ? this.#filled : end) - this.#at > PART_HEAD_BYTES_MAX) {
      throw new MultipartError(`the headers of a part are longer than ${PART_HEAD_BYTES_MAX} bytes`);
    }
    if (end === -1) return false;
    const head = parsePartHead(this.#window.toString('utf8', this.#at, end));
    if (typeof head === 'string') throw new MultipartError(head);
    this.#head = head;
    this.#at = end + HEAD_END.length;
    this.#valueStart = this.#base + this.#at;
    this.#state = 'value';
    return true;
  }

  /**
   * A boundary is a line of its own, ended by CR LF. Parsers disagree about lines that merely begin like one (RFC 2046
   * section 5.1.1 allows both readings), and a provider must not read another `model` than was checked: such a form is
   * refused.
   */
  #readValue(): boolean {
    const delimiter = this.#delimiter;
    const window = this.#window.subarray(0, this.#filled);
    let found = window.indexOf(delimiter, this.#at);
    while (found !== -1 && !this.#beginsLine(found)) found = window.indexOf(delimiter, found + 1);
    if (found === -1) {
      // The line end before a boundary and a part of it may be at the end of the window.
      this.#take(Math.max(this.#at, this.#filled - delimiter.length - 1));
      return false;
    }
    const after = found + delimiter.length;
    if (this.#filled < after + 2) {
      this.#take(Math.max(this.#at, found - 2));
      return false;
    }
    if (found < this.#at + 2 || !this.#isLineEnd(found - 2)) throw ambiguous();
    if (!this.#isLineEnd(after) && !this.#endsForm(after)) throw ambiguous();
    this.#take(found - 2);
    this.#endPart(this.#base + found - 2);
    this.#at = after;
    this.#state = 'delimited';
    return true;
  }

  #readEpilogue(): boolean {
    const rest = this.#filled - this.#at;
    if (rest === 0) return false;
    const end = this.#window.subarray(this.#at, this.#filled);
    const isEnd = rest <= EPILOGUE.length && end.equals(EPILOGUE.subarray(0, rest));
    if (!isEnd) throw new MultipartError('it has bytes after its closing boundary');
    return false;
  }

  /** Whether the byte before is one that any parser takes for the end of a line, or belongs to the head. */
  #beginsLine(at: number): boolean {
    if (this.#base + at === this.#valueStart) return true;
    // What remains of an earlier window was looked at in it.
    if (at === this.#at) return false;
    const before = this.#window[at - 1];
    return before === LF || before === CR;
  }

  #isLineEnd(at: number): boolean {
    return this.#window[at] === CR && this.#window[at + 1] === LF;
  }

  #endsForm(at: number): boolean {
    return this.#window[at] === DASH && this.#window[at + 1] === DASH;
  }

  /** Reads the value up to `end` of the window. */
  #take(end: number): void {
    if (this.#head?.isFile === false && end > this.#at) {
      this.#textBytes += end - this.#at;
      if (this.#textBytes > PART_TEXT_BYTES_MAX) {
        throw new MultipartError(`the part ${this.#head.name} is longer than ${PART_TEXT_BYTES_MAX} bytes`);
      }
      this.#text.push(Buffer.from(this.#window.subarray(this.#at, end)));
    }
    this.#at = end;
  }

  #endPart(end: number): void {
    const head = this.#head;
    if (head === null) return;
    const text = head.isFile ? null : decodeText(head, Buffer.concat(this.#text));
    this.#head = null;
    this.#text = [];
    this.#textBytes = 0;
    this.#onPart({ ...head, start: this.#valueStart, end, text });
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeText({ name, charset }: PartHead, bytes: Buffer): string {
  if (charset !== null && bytes.some((byte) => byte >= 0x80)) throw new MultipartError(charsetProblem(name, charset));
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new MultipartError(`the part ${name} is not UTF-8`);
  }
}

function ambiguous(): MultipartError {
  return new MultipartError(
    'a line of a part begins like the boundary; choose a boundary that the parts do not contain',
  );
}
