/**
 * Defines how the bytes of an upstream's stream are cut into records. Each upstream names its framing; observers,
 * parsers and the relay see only records, which are spans over the received bytes.
 */

/**
 * One record of a stream: `bytes[start, end)` is what a client of the same format gets. Of SSE it is exactly what was
 * received, including the blank line that ended it, so forwarding all records forwards the stream; a framing that clients
 * do not read is rendered as SSE. Copies nothing of SSE: `bytes` is the pushed chunk, or a joined copy if the record
 * spans several chunks.
 */
export interface StreamRecord {
  /**
   * `event`: has data. The others carry nothing: `no-data` has fields, but no data; `comment` is a heartbeat; `blank`
   * is padding.
   */
  readonly kind: 'event' | 'no-data' | 'comment' | 'blank';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The type of the event, or empty: in SSE the value of the last `event:` line. */
  readonly event: string;
  /**
   * The data is `dataBytes[dataStart, dataEnd)`: within `bytes` if it was contiguous there, else a copy (in SSE several
   * lines joined by LF).
   */
  readonly dataBytes: Uint8Array;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** The stream cannot be decoded further; nothing after the last record is returned. */
export interface FramingProblem {
  readonly kind: 'problem';
  readonly message: string;
}

/** Consecutive records that the caller's skim recognized by their bytes alone: `bytes[start, end)` is exactly what was received. */
export interface SkimmedRecords {
  readonly kind: 'skimmed';
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export type FramingOutput = StreamRecord | FramingProblem;

/**
 * Returns the end of the adjacent records from `start` (the beginning of a record) that need no decoding; `start`
 * itself without such records. It must recognize each of them completely, including the bytes that end it.
 */
export type Skim = (bytes: Uint8Array, start: number) => number;

/** Decodes one stream. A chunk may end anywhere, and must not change while its records are in use. */
export interface RecordDecoder {
  /**
   * Passes each record to `take` as soon as it is certain and before it reads further, so that a skim can learn from
   * one record for the next. After a problem nothing follows, and feeding throws.
   */
  feed(chunk: Uint8Array, take: (output: FramingOutput | SkimmedRecords) => void): void;
  /** The tail that nothing ended, if any; the caller decides whether it counts. */
  finish(): FramingOutput[];
}

/**
 * A way to cut a stream into records. A record has at most as many bytes of the model's output as were received for it,
 * which is what metering relies on.
 */
export interface Framing {
  readonly name: string;
  /** Whether a response of this content type is a stream in this framing. */
  isStream(contentType: string): boolean;
  /** Whether a body of any other content type begins like a stream; must be false for JSON. */
  beginsStream(span: Uint8Array): boolean;
  /**
   * Starts decoding a stream. A record of more than `recordBytesMax` bytes is a problem. `skim` is called at the
   * beginning of each record; null: every record is decoded.
   */
  startDecoder(recordBytesMax: number, skim: Skim | null): RecordDecoder;
  /**
   * The end of the first record within `bytes[from, to)`, which may begin inside a record; `to` if none is known to end
   * there.
   */
  firstRecordEnd(bytes: Uint8Array, from: number, to: number): number;
  /** The end of the last complete record within `bytes[from, to)`; `from` if none is known to end there. */
  lastRecordEnd(bytes: Uint8Array, from: number, to: number): number;
}

/** The bytes of a record as received, without copying. */
export function rawBytes(record: StreamRecord): Uint8Array {
  const { bytes, start, end } = record;
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

/** The data of a record as text; invalid UTF-8 becomes U+FFFD, as the standard requires. Empty without data. */
export function dataText(record: StreamRecord): string {
  const { dataBytes, dataStart, dataEnd } = record;
  return Buffer.from(dataBytes.buffer, dataBytes.byteOffset + dataStart, dataEnd - dataStart).toString();
}
