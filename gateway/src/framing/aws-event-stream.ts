/**
 * Decodes AWS event streams: binary frames of headers and a payload, each with two checksums
 * (https://smithy.io/2.0/aws/amazon-eventstream.html, 2026-11-22). Payloads are read by the protocols.
 */
import { crc32 } from 'node:zlib';
import type { Framing, FramingOutput, FramingProblem, RecordDecoder, StreamRecord } from './framing.ts';

/** Two lengths and their checksum. */
const PRELUDE_BYTES = 12;
/** The prelude and the checksum at the end. */
const FRAME_BYTES_MIN = 16;
/** Limits of AWS's own SDKs (botocore 1.44.5). */
const HEADER_BYTES_MAX = 128 * 1024;
const PAYLOAD_BYTES_MAX = 24 * 1024 * 1024;

/**
 * Begins the `event` of a record that reports a failure: `error:throttlingException`. Its data is JSON with a `message`.
 */
export const FAILURE_PREFIX = 'error:';

/**
 * Frames as records: `event` is the event type, and the data is the payload. Frames without headers are padding and
 * give no record.
 */
export const AWS_EVENT_STREAM: Framing = {
  name: 'aws-event-stream',
  isStream: (contentType) => contentType.trim().toLowerCase().startsWith('application/vnd.amazon.eventstream'),
  // The length of a frame below 16 MiB begins with this byte.
  beginsStream: (span) => span[0] === 0,
  startDecoder: (recordBytesMax) => new FrameDecoder(recordBytesMax),
  firstRecordEnd(bytes, from, to) {
    const start = findFrame(bytes, from, to);
    if (start !== from) return start === -1 ? to : start;
    return Math.min(to, from + readTotal(bytes, from));
  },
  lastRecordEnd(bytes, from, to) {
    let end = findFrame(bytes, from, to);
    if (end === -1) return from;
    while (isFrame(bytes, end, to) && end + readTotal(bytes, end) <= to) end += readTotal(bytes, end);
    return end;
  },
};

class FrameDecoder implements RecordDecoder {
  readonly #recordBytesMax: number;
  /** The beginning of an incomplete frame: `#held[0, #heldBytes)`. */
  #held: Uint8Array = new Uint8Array(0);
  #heldBytes = 0;
  #over = false;

  constructor(recordBytesMax: number) {
    this.#recordBytesMax = recordBytesMax;
  }

  feed(chunk: Uint8Array, take: (output: FramingOutput) => void): void {
    if (this.#over) throw new Error('this event stream has ended: nothing can be fed after a problem or finish()');
    for (let from = 0; from < chunk.length && !this.#over; ) {
      if (this.#heldBytes > 0) from = this.#extendHeld(chunk, from, take);
      else {
        const total = this.#totalOf(chunk, from, chunk.length, take);
        if (total !== null && from + total <= chunk.length) {
          this.#read(chunk, from, from + total, take);
          from += total;
        } else if (!this.#over) from = this.#hold(chunk, from, chunk.length);
      }
    }
  }

  /** A frame that was cut counts for nothing: its checksum is missing. */
  finish(): FramingOutput[] {
    this.#over = true;
    this.#held = new Uint8Array(0);
    return [];
  }

  /** Adds what the held frame lacks, first its prelude; returns the position after it in the chunk. */
  #extendHeld(chunk: Uint8Array, from: number, take: (output: FramingOutput) => void): number {
    const wanted = this.#heldBytes < PRELUDE_BYTES ? PRELUDE_BYTES : readTotal(this.#held, 0);
    const to = this.#hold(chunk, from, Math.min(chunk.length, from + wanted - this.#heldBytes));
    const total = this.#totalOf(this.#held, 0, this.#heldBytes, take);
    if (total !== this.#heldBytes) return to;
    const frame = this.#held;
    // The record keeps these bytes, so the next frame gets others.
    this.#held = new Uint8Array(0);
    this.#heldBytes = 0;
    this.#read(frame, 0, total, take);
    return to;
  }

  #hold(chunk: Uint8Array, from: number, to: number): number {
    const bytes = this.#heldBytes + to - from;
    if (this.#held.length < bytes) {
      const larger = new Uint8Array(Math.max(bytes, this.#held.length * 2, 512));
      larger.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = larger;
    }
    this.#held.set(chunk.subarray(from, to), this.#heldBytes);
    this.#heldBytes = bytes;
    return to;
  }

  /** The length of the frame at `start`; null: its prelude is incomplete, or a problem was reported. */
  #totalOf(bytes: Uint8Array, start: number, end: number, take: (output: FramingOutput) => void): number | null {
    if (end - start < PRELUDE_BYTES || this.#over) return null;
    const total = readTotal(bytes, start);
    const headerBytes = readUint32(bytes, start + 4);
    if (crc32(bytes.subarray(start, start + 8)) !== readUint32(bytes, start + 8)) {
      this.#refuse('the checksum of its lengths is wrong', take);
    } else if (headerBytes > total - FRAME_BYTES_MIN) {
      this.#refuse('its lengths contradict each other', take);
    } else if (
      total > this.#recordBytesMax ||
      headerBytes > HEADER_BYTES_MAX ||
      total - headerBytes - FRAME_BYTES_MIN > PAYLOAD_BYTES_MAX
    ) {
      this.#refuse(`it has ${total} bytes, ${headerBytes} of them in headers, which is too long`, take);
    } else return total;
    return null;
  }

  #read(bytes: Uint8Array, start: number, end: number, take: (output: FramingOutput) => void): void {
    if (crc32(bytes.subarray(start, end - 4)) !== readUint32(bytes, end - 4)) {
      this.#refuse('its checksum is wrong', take);
      return;
    }
    if (end - start === FRAME_BYTES_MIN) return;
    const payloadStart = start + PRELUDE_BYTES + readUint32(bytes, start + 4);
    const headers = readHeaders(bytes, start + PRELUDE_BYTES, payloadStart);
    if (headers === null) this.#refuse('its headers cannot be read', take);
    else take(recordOf({ bytes, start, end, dataBytes: bytes, dataStart: payloadStart, dataEnd: end - 4 }, headers));
  }

  #refuse(why: string, take: (output: FramingOutput) => void): void {
    this.#over = true;
    this.#held = new Uint8Array(0);
    this.#heldBytes = 0;
    const problem: FramingProblem = { kind: 'problem', message: `a frame of the event stream is invalid: ${why}` };
    take(problem);
  }
}

type Spans = Omit<StreamRecord, 'kind' | 'event'>;

/** An exception has a payload like an event; an error has headers in its place. */
function recordOf(spans: Spans, headers: ReadonlyMap<string, string>): StreamRecord {
  switch (headers.get(':message-type')) {
    case 'event':
      return { kind: 'event', ...spans, event: headers.get(':event-type') ?? '' };
    case 'exception':
      return { kind: 'event', ...spans, event: `${FAILURE_PREFIX}${headers.get(':exception-type') ?? 'unknown'}` };
    case 'error': {
      const dataBytes = Buffer.from(JSON.stringify({ message: headers.get(':error-message') ?? '' }));
      const data = { dataBytes, dataStart: 0, dataEnd: dataBytes.length };
      return { kind: 'event', ...spans, ...data, event: `${FAILURE_PREFIX}${headers.get(':error-code') ?? 'unknown'}` };
    }
    default:
      return { kind: 'no-data', ...spans, event: '' };
  }
}

/** Bytes of a value by its type; types 6 and 7 begin with their length. */
const VALUE_BYTES: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const STRING_TYPE = 7;

/** The headers with a text as value; null: they do not fill their space. */
function readHeaders(bytes: Uint8Array, from: number, to: number): Map<string, string> | null {
  const headers = new Map<string, string>();
  let at = from;
  while (at < to) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd] ?? 0;
    const size = VALUE_BYTES[type];
    if (nameEnd >= to || size === undefined) return null;
    const hasLength = size === -1;
    if (hasLength && nameEnd + 3 > to) return null;
    const valueStart = nameEnd + (hasLength ? 3 : 1);
    const valueEnd = valueStart + (hasLength ? readUint16(bytes, nameEnd + 1) : size);
    if (valueEnd > to) return null;
    if (type === STRING_TYPE) headers.set(textOf(bytes, at + 1, nameEnd), textOf(bytes, valueStart, valueEnd));
    at = valueEnd;
  }
  return headers;
}

/**
 * The first frame in `bytes[from, to)`, or -1. Recognizes it by the checksum of its lengths, because the bytes may begin
 * inside a frame.
 */
function findFrame(bytes: Uint8Array, from: number, to: number): number {
  for (let start = from; start + PRELUDE_BYTES <= to; start++) if (isFrame(bytes, start, to)) return start;
  return -1;
}

function isFrame(bytes: Uint8Array, start: number, to: number): boolean {
  // JSON has no such bytes, so the checksum is seldom computed.
  if (start + PRELUDE_BYTES > to || (bytes[start] ?? 0) > 1 || bytes[start + 4] !== 0) return false;
  const isLongEnough = readTotal(bytes, start) >= FRAME_BYTES_MIN;
  return isLongEnough && crc32(bytes.subarray(start, start + 8)) === readUint32(bytes, start + 8);
}

function readTotal(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at);
}

function readUint32(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0
  );
}

function readUint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}
