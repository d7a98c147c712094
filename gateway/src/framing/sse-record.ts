/** Defines decoded server-sent events as spans over the received bytes, and reads their bytes and data. */

/**
 * One record of a stream: `bytes[start, end)` is exactly what was received, including the blank line that ended it. The
 * spans of successive records are adjacent, so forwarding them all forwards the stream. Copies nothing: `bytes` is the
 * pushed chunk, or a joined copy if the record spans several chunks.
 */
export interface SseRecord {
  /**
   * `event`: has data. `no-data`: has fields, but no `data`; clients do not dispatch it. `comment`: only comment lines,
   * such as heartbeats. `blank`: only line ends.
   */
  readonly kind: 'event' | 'no-data' | 'comment' | 'blank';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The value of the last `event:` line, or empty. `id:` and `retry:` are forwarded in the raw bytes, not parsed. */
  readonly event: string;
  /** The data is `dataBytes[dataStart, dataEnd)`: within `bytes` if it was one line, else the lines joined by LF. */
  readonly dataBytes: Uint8Array;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** The stream cannot be decoded further; nothing after the last record is returned. */
export interface SseProblem {
  readonly kind: 'problem';
  readonly message: string;
}

/** Records that the caller's skim recognized by their bytes alone: `bytes[start, end)` is exactly what was received. */
export interface SseSkimmed {
  readonly kind: 'skimmed';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export type SseOutput = SseRecord | SseProblem;

/** The bytes of a record as received, without copying. */
export function rawBytes(record: SseRecord): Uint8Array {
  const { bytes, start, end } = record;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

/** The data of a record as text; invalid UTF-8 becomes U+FFFD, as the standard requires. Empty without data. */
export function dataText(record: SseRecord): string {
  const { dataBytes, dataStart, dataEnd } = record;
  return Buffer.from(dataBytes.buffer, dataBytes.byteOffset + dataStart, dataEnd - dataStart).toString();
}
