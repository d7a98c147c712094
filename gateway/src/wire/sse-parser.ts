/** Owns reading the lines and fields of one record whose bytes lie in one array. Keeping incomplete records is sse-decoder.ts's. */

import { behindLineEnd, isLineEnd, LineEnds } from './line-ends.ts';
import type { SseRecord } from './sse-record.ts';

const LF = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
const LETTER_D = 0x64;
const LETTER_E = 0x65;

/** Reads records one after another. Call `begin` for each new array, then `parse` from its start forwards. */
export class SseParser {
  readonly #lines = new LineEnds();
  #bytes: Uint8Array = new Uint8Array(0);
  #atStreamStart = true;
  #dataStart = 0;
  #dataEnd = 0;
  #dataLines = 0;
  /** The bytes of all data lines together. */
  #dataBytes = 0;
  #eventStart = 0;
  #eventEnd = 0;
  /** The name of the event before: most streams repeat few names. */
  #eventName = '';
  /** The bytes of the last record up to the byte that made its blank line certain: independent of how the stream was cut. */
  countedBytes = 0;

  /** Turns to the next array. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#lines.begin(bytes);
  }

  /** The record that begins at `start`, of which the first `strayBytes` belong to the line end before; undefined if incomplete. */
  parse(start: number, strayBytes: number): SseRecord | undefined {
    return this.#read(start, strayBytes, false);
  }

  /** The same for the end of the stream, where the last line and record end without a line end. */
  parseTail(start: number, strayBytes: number): SseRecord {
    return this.#read(start, strayBytes, true) ?? this.#record('blank', start, this.#bytes.length);
  }

  #read(start: number, strayBytes: number, final: boolean): SseRecord | undefined {
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

  #record(kind: SseRecord['kind'], start: number, end: number): SseRecord {
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

  /** The data lines of the record just read, joined by LF. Read a second time, so that a million short lines need no list. */
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

/** Where the value of a field begins whose name ended at `nameEnd`: behind the colon and one space; -1 if the name goes on. */
function valueStart(bytes: Uint8Array, nameEnd: number, end: number): number {
  if (nameEnd >= end) return nameEnd === end ? end : -1;
  if (bytes[nameEnd] !== COLON) return -1;
  return bytes[nameEnd + 1] === SPACE && nameEnd + 1 < end ? nameEnd + 2 : nameEnd + 1;
}
