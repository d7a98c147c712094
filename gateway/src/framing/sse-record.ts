/** Owns what a decoded server-sent event is: spans over the bytes that came, and how to read them. */

/**
 * One record of a stream: `bytes[start, end)` is exactly what came, with the blank line that ended it. The spans of successive
 * records are adjacent, so forwarding them all forwards the stream. Copies nothing: `bytes` is the chunk that was pushed, or a
 * joined copy where the record lay in several.
 */
export interface SseRecord {
  /**
   * `event`: has data. `no-data`: has fields, but no `data`; clients do not dispatch it. `comment`: only comment lines, as
   * heartbeats are. `blank`: only line ends.
   */
  readonly kind: 'event' | 'no-data' | 'comment' | 'blank';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The value of the last `event:` line, or empty. `id:` and `retry:` are forwarded in the raw bytes, not read. */
  readonly event: string;
  /** The data is `dataBytes[dataStart, dataEnd)`: within `bytes` when it was one line, else the lines joined by LF. */
  readonly dataBytes: Uint8Array;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** The stream cannot be decoded any further; nothing that came after the last record is given out. */
export interface SseProblem {
  readonly kind: 'problem';
  readonly message: string;
}

/** Records that whoever asked for it recognised by their bytes alone: `bytes[start, end)` is exactly what came. */
export interface SseSkimmed {
  readonly kind: 'skimmed';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** What a decoder gives out. */
export type SseOutput = SseRecord | SseProblem;

/** The bytes of a record as they came, without copying. */
export function rawBytes(record: SseRecord): Uint8Array {
  const { bytes, start, end } = record;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

/** The data of a record as text; bytes that are not UTF-8 become U+FFFD, as the standard says. Empty without data. */
export function dataText(record: SseRecord): string {
  const { dataBytes, dataStart, dataEnd } = record;
  return Buffer.from(dataBytes.buffer, dataBytes.byteOffset + dataStart, dataEnd - dataStart).toString();
}
