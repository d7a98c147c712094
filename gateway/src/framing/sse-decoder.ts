/**
 * Splits the bytes of an event stream into records, in bounded memory and as soon as each record is certain
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html, 2026-11-20). The protocols interpret the data.
 */
import type { Framing, FramingOutput, RecordDecoder, Skim, SkimmedRecords, StreamRecord } from './framing.ts';
import { behindLineEnd, firstRecordEnd, isLineEnd, LineEnds, lastRecordEnd } from './line-ends.ts';

const SPACE = 0x20;
const COLON = 0x3a;
const LETTER_D = 0x64;
const LETTER_E = 0x65;

/** Parses successive records. Call `begin` for each new array, then `parse` from its start forwards. */
class SseParser {
  readonly #lines = new LineEnds();
  #bytes: Uint8Array = new Uint8Array(0);
  #atStreamStart = true;
  #dataStart = 0;
  #dataEnd = 0;
  #dataLines = 0;
  /** The total bytes of all data lines. */
  #dataBytes = 0;
  #eventStart = 0;
  #eventEnd = 0;
  /** The previous event's name, reused because most streams repeat few names. */
  #eventName = '';
  /**
   * The bytes of the last record up to the byte that made its blank line certain; independent of how the stream was
   * chunked.
   */
  countedBytes = 0;

  /** Switches to the next array. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#lines.begin(bytes);
  }

  /**
   * The record that begins at `start`, whose first `strayBytes` belong to the previous line end; undefined if
   * incomplete.
   */
  parse(start: number, strayBytes: number): StreamRecord | undefined {
    return this.#read(start, strayBytes, false);
  }

  /** Like `parse`, for the end of the stream, where the last line and record have no line end. */
  parseTail(start: number, strayBytes: number): StreamRecord {
    return this.#read(start, strayBytes, true) ?? this.#record('blank', start, this.#bytes.length);
  }

  #read(start: number, strayBytes: number, final: boolean): StreamRecord | undefined {
    const bytes = this.#bytes;
    const { length } = bytes;
    let pos = start + strayBytes;
    if (this.#atStreamStart && bytes[pos] === 0xef && bytes[pos + 1] === 0xbb && bytes[pos + 2] === 0xbf) pos += 3;
    this.#dataLines = 0;
    this.#dataBytes = 0;
    this.#dataStart = this.#dataEnd = this.#eventStart = this.#eventEnd = start;
    let hasComment = false;
    let hasField = false;
    while (pos < length && !isLineEnd(bytes[pos])) {
      const end = this.#lines.next(pos);
      if (end === length && !final) return undefined;
      if (bytes[pos] === COLON) hasComment = true;
      else {
        hasField = true;
        this.#readField(pos, end);
      }
      pos = end === length ? end : behindLineEnd(bytes, end);
    }
    if (pos >= length && !final) return undefined;
    const kind = this.#dataLines > 0 ? 'event' : hasField ? 'no-data' : hasComment ? 'comment' : 'blank';
    this.countedBytes = kind === 'blank' ? 0 : pos + (pos < length ? 1 : 0) - start - strayBytes;
    if (pos < length) pos = behindLineEnd(bytes, pos);
    if (kind === 'blank') while (pos < length && isLineEnd(bytes[pos])) pos++;
    this.#atStreamStart = false;
    return this.#record(kind, start, pos);
  }

  #readField(pos: number, end: number): void {
    const bytes = this.#bytes;
    const first = bytes[pos];
    if (first === LETTER_D) {
      if (bytes[pos + 1] !== 0x61 || bytes[pos + 2] !== 0x74 || bytes[pos + 3] !== 0x61) return;
      const value = valueStart(bytes, pos + 4, end);
      if (value === -1) return;
      this.#dataLines++;
      this.#dataBytes += end - value;
      if (this.#dataLines > 1) return;
      this.#dataStart = value;
      this.#dataEnd = end;
    } else if (first === LETTER_E) {
      if (bytes[pos + 1] !== 0x76 || bytes[pos + 2] !== 0x65 || bytes[pos + 3] !== 0x6e || bytes[pos + 4] !== 0x74)
        return;
      const value = valueStart(bytes, pos + 5, end);
      if (value === -1) return;
      this.#eventStart = value;
      this.#eventEnd = end;
    }
  }

  #record(kind: StreamRecord['kind'], start: number, end: number): StreamRecord {
    const bytes = this.#bytes;
    const event = this.#eventStart === this.#eventEnd ? '' : this.#nameOfEvent();
    if (this.#dataLines > 1) {
      const joined = this.#joinData(end);
      return { kind, bytes, start, end, event, dataBytes: joined, dataStart: 0, dataEnd: joined.length };
    }
    return { kind, bytes, start, end, event, dataBytes: bytes, dataStart: this.#dataStart, dataEnd: this.#dataEnd };
  }

  #nameOfEvent(): string {
    const bytes = this.#bytes;
    const start = this.#eventStart;
    const length = this.#eventEnd - start;
    const name = this.#eventName;
    let same = name.length === length;
    for (let i = 0; same && i < length; i++)
      same = bytes[start + i] === name.charCodeAt(i) && name.charCodeAt(i) < 0x80;
    if (!same) this.#eventName = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString();
    return this.#eventName;
  }

  /**
   * The data lines of the record just parsed, joined by LF. Parses them a second time, so that a million short lines
   * need no list.
   */
  #joinData(end: number): Uint8Array {
    const bytes = this.#bytes;
    const joined = new Uint8Array(this.#dataBytes + this.#dataLines - 1);
    joined.set(bytes.subarray(this.#dataStart, this.#dataEnd));
    let to = this.#dataEnd - this.#dataStart;
    const lines = new LineEnds();
    lines.begin(bytes);
    for (let pos = behindLineEnd(bytes, this.#dataEnd); pos < end; ) {
      const lineEnd = Math.min(lines.next(pos), end);
      const isData =
        bytes[pos] === LETTER_D && bytes[pos + 1] === 0x61 && bytes[pos + 2] === 0x74 && bytes[pos + 3] === 0x61;
      const value = isData ? valueStart(bytes, pos + 4, lineEnd) : -1;
      if (value !== -1) {
        joined[to++] = LF;
        joined.set(bytes.subarray(value, lineEnd), to);
        to += lineEnd - value;
      }
      pos = behindLineEnd(bytes, lineEnd);
    }
    return joined;
  }
}

/** The start of a field's value, after the colon and one optional space; -1 if the name continues past `nameEnd`. */
function valueStart(bytes: Uint8Array, nameEnd: number, end: number): number {
  if (nameEnd >= end) return nameEnd === end ? end : -1;
  if (bytes[nameEnd] !== COLON) return -1;
  return bytes[nameEnd + 1] === SPACE && nameEnd + 1 < end ? nameEnd + 2 : nameEnd + 1;
}

const LF = 0x0a;
const CR = 0x0d;
const NOTHING = new Uint8Array(0);

/** Default limit of `startSseDecoder`: 8 MiB. */
const SSE_RECORD_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Decodes one stream. `finish` returns the tail that no blank line ended, if any; the caller decides whether it counts.
 */
export type SseDecoder = Transducer<Uint8Array, FramingOutput>;

/**
 * Starts decoding a stream. Lines may end in LF, CR or CRLF; a chunk may end anywhere. A record of more than
 * `recordBytesMax` bytes yields a problem as the last output; pushing after it throws. A chunk must not change while
 * its records are in use.
 *
 * A record that ends with CRLF is returned at the CR; if the LF arrives in a later chunk, it begins the span of the
 * next record.
 */
export function startSseDecoder(recordBytesMax: number = SSE_RECORD_BYTES_MAX): SseDecoder {
  return new Decoder(recordBytesMax, null);
}

type Output = FramingOutput | SkimmedRecords;
type Take = (output: Output) => void;

/** Server-sent events. */
export const SSE: Framing = {
  name: 'sse',
  isStream: (contentType) => contentType.trim().toLowerCase().startsWith('text/event-stream'),
  // A body begins with `data`, `event` or a comment.
  beginsStream: (span) => span.length > 0 && 'de:'.includes(String.fromCharCode(span[0] ?? 0)),
  startDecoder: (recordBytesMax, skim) => new Decoder(recordBytesMax, skim),
  firstRecordEnd,
  lastRecordEnd,
};

class Decoder implements SseDecoder, RecordDecoder {
  readonly #skim: Skim | null;
  readonly #recordBytesMax: number;
  readonly #parser = new SseParser();
  readonly #lines = new LineEnds();
  /** The beginning of an incomplete record: `#held[0, #heldBytes)`. */
  #held = new Uint8Array(0);
  #heldBytes = 0;
  /** A record ended with a CR as the last byte; a LF that follows belongs to it. */
  #afterCr = false;
  /** How many bytes at the start of the next span are such a LF: 0 or 1. */
  #strayBytes = 0;
  #over = false;

  constructor(recordBytesMax: number, skim: Skim | null) {
    this.#recordBytesMax = recordBytesMax;
    this.#skim = skim;
  }

  push(chunk: Uint8Array): FramingOutput[] {
    const outputs: Output[] = [];
    this.feed(chunk, (output) => outputs.push(output));
    // Without a skim there are no skimmed outputs.
    return outputs as FramingOutput[];
  }

  feed(chunk: Uint8Array, take: Take): void {
    if (this.#over) throw new Error('this event stream has ended: nothing can be pushed after a problem or finish()');
    if (chunk.length === 0) return;
    let from = 0;
    if (this.#heldBytes > 0) {
      from = this.#endOfHeld(chunk);
      if (from === -1) {
        this.#hold(chunk, 0, take);
        return;
      }
      this.#parseAll(this.#joinHeld(chunk, from), 0, take);
    } else if (this.#afterCr) {
      this.#strayBytes = chunk[0] === LF ? 1 : 0;
    }
    if (this.#over) return;
    from = this.#parseAll(chunk, from, take);
    this.#afterCr = from === chunk.length && chunk[from - 1] === CR;
    if (from < chunk.length && !this.#over) this.#hold(chunk, from, take);
    // A stream may wait for minutes between two chunks and must not keep half a megabyte of the last one alive.
    this.#parser.begin(NOTHING);
    this.#lines.begin(NOTHING);
  }

  finish(): FramingOutput[] {
    if (this.#over) return [];
    this.#over = true;
    if (this.#heldBytes === 0) return [];
    this.#parser.begin(this.#held.subarray(0, this.#heldBytes));
    return [this.#parser.parseTail(0, this.#strayBytes)];
  }

  /** Outputs every complete record of `bytes` from `from` on, and returns the start of the incomplete one. */
  #parseAll(bytes: Uint8Array, from: number, take: Take): number {
    const parser = this.#parser;
    parser.begin(bytes);
    let start = from;
    while (start < bytes.length) {
      const skimmedTo = this.#skim === null || this.#strayBytes > 0 ? start : this.#skim(bytes, start);
      if (skimmedTo > start) {
        take({ kind: 'skimmed', bytes, start, end: skimmedTo });
        start = skimmedTo;
        continue;
      }
      const record = parser.parse(start, this.#strayBytes);
      if (record === undefined) break;
      if (parser.countedBytes > this.#recordBytesMax) {
        this.#refuse(take);
        break;
      }
      take(record);
      start = record.end;
      this.#strayBytes = 0;
    }
    return start;
  }

  /** The end in `chunk` of the record that the held bytes begin, or -1. Held bytes are not scanned again until then. */
  #endOfHeld(chunk: Uint8Array): number {
    const last = this.#held[this.#heldBytes - 1];
    let pos = last === CR && chunk[0] === LF ? 1 : 0;
    let atLineStart = isLineEnd(last);
    this.#lines.begin(chunk);
    while (pos < chunk.length) {
      if (atLineStart && isLineEnd(chunk[pos])) return behindLineEnd(chunk, pos);
      const end = this.#lines.next(pos);
      if (end === chunk.length) return -1;
      pos = behindLineEnd(chunk, end);
      atLineStart = true;
    }
    return -1;
  }

  /** Copies the held bytes and the first `end` bytes of the chunk into new memory. */
  #joinHeld(chunk: Uint8Array, end: number): Uint8Array {
    const joined = new Uint8Array(this.#heldBytes + end);
    joined.set(this.#held.subarray(0, this.#heldBytes));
    joined.set(end === chunk.length ? chunk : chunk.subarray(0, end), this.#heldBytes);
    this.#heldBytes = 0;
    return joined;
  }

  #hold(chunk: Uint8Array, from: number, take: Take): void {
    const bytes = this.#heldBytes + chunk.length - from;
    if (bytes - this.#strayBytes > this.#recordBytesMax) {
      this.#refuse(take);
      return;
    }
    if (this.#held.length < bytes) {
      const larger = new Uint8Array(Math.max(bytes, this.#held.length * 2, 256));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(from === 0 ? chunk : chunk.subarray(from), this.#heldBytes);
    this.#heldBytes = bytes;
  }

  #refuse(take: Take): void {
    this.#over = true;
    this.#held = new Uint8Array(0);
    this.#heldBytes = 0;
    const limit = `at most ${this.#recordBytesMax} bytes`;
    take({
      kind: 'problem',
      message: `a record of the event stream is too long: expected ${limit} up to its blank line`,
    });
  }
}

/**
 * Takes input in pieces and returns output as soon as it is certain. `finish` signals the end of input and returns the
 * rest.
 */
interface Transducer<Input, Output> {
  push(input: Input): Output[];
  finish(): Output[];
}
