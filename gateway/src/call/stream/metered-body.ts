/**
 * Passes upstream's bytes to the reader of a metered stream only as far as the hold covers them: of a burst, complete
 * records are read up to the first one that is not covered, and the rest waits unread for the next slice. Unread bytes
 * are neither forwarded nor charged.
 */

import type { Framing } from '../../framing/framing.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { Backlog } from './outbox.ts';

/** The stream's reader. It pauses upstream on a backlog and resumes it once nothing waits. */
export interface MeteredReader extends ExchangeListener {
  onBacklog(bytes: number): void;
  onCaughtUp(): void;
}

/** The part of `StreamMeter` that is used here. */
export interface BodyMeter {
  covers(): boolean;
  expect(aheadShare: number): void;
  coversMore(bytes: number): boolean;
  coveredEnd(bytes: Uint8Array, start: number): number;
}

/** Below this size bytes are read record by record. */
const PIECE_BYTES_MIN = 512;
/** The most that is looked at before it is read. */
const PREVIEW_BYTES_MAX = 32 * 1024;

export class MeteredBody implements ExchangeListener {
  readonly #reader: MeteredReader;
  readonly #meter: BodyMeter;
  readonly #framing: Framing;
  /**
   * Bytes after the first uncovered record: first the rest of the current read, then copies, because a view keeps its
   * whole read alive.
   */
  #rest: Uint8Array | null = null;
  readonly #waiting = new Backlog();
  #waits = false;
  /** Upstream's end, if it came while bytes were waiting. */
  #ending: (() => void) | null = null;
  /** Bytes already read that may begin a record not yet counted. */
  #uncountedBytes = 0;
  #readBytes = 0;
  /** Whether the records ahead in the current read may be known and covered. */
  #previews = true;

  constructor(reader: MeteredReader, meter: BodyMeter, framing: Framing) {
    this.#reader = reader;
    this.#meter = meter;
    this.#framing = framing;
  }

  onHead(head: ResponseHead): void {
    this.#reader.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (!this.#waits) {
      this.#read(span);
      return;
    }
    this.#waiting.append(span);
    this.#reader.onBacklog(this.#waitingBytes());
  }

  onEnd(): void {
    this.#end(() => this.#reader.onEnd());
  }

  onFailure(failure: UpstreamFailure): void {
    this.#end(() => this.#reader.onFailure(failure));
  }

  /** Resumes reading, as far as the hold now covers. */
  goOn(): void {
    if (!this.#waits || !this.#meter.coversMore(0)) return;
    this.#waits = false;
    while (!this.#waits) {
      const bytes = this.#rest ?? this.#waiting.shift();
      this.#rest = null;
      if (bytes === undefined) break;
      this.#read(bytes);
    }
    if (this.#waits) return;
    this.#reader.onCaughtUp();
    this.#ending?.();
    this.#ending = null;
  }

  /** Discards the waiting bytes: the stream has ended for its reader. */
  drop(): void {
    this.#rest = null;
    this.#waiting.clear();
    this.#waits = false;
    this.#ending?.();
    this.#ending = null;
  }

  #end(tell: () => void): void {
    if (this.#waits) this.#ending = tell;
    else tell();
  }

  #waitingBytes(): number {
    return this.#waiting.byteCount + (this.#rest?.length ?? 0);
  }

  /** Stores the rest of the current read before all bytes that already wait. */
  #keep(bytes: Uint8Array): void {
    if (this.#waiting.byteCount === 0) this.#waiting.append(bytes);
    else this.#rest = bytes;
    this.#reader.onBacklog(this.#waitingBytes());
  }

  /**
   * No byte of a stream produces more than one byte of output, so most reads are known to be covered before they are
   * read.
   */
  #read(bytes: Uint8Array): void {
    this.#previews = true;
    if (this.#isCovered(bytes.length)) {
      this.#hand(bytes, 0, bytes.length);
      return;
    }
    for (let from = 0; from < bytes.length; ) {
      const to = this.#pieceEnd(bytes, from);
      this.#meter.expect((bytes.length - to + this.#waiting.byteCount) / (this.#readBytes + to - from));
      this.#hand(bytes, from, to);
      from = to;
      if (this.#meter.covers()) continue;
      this.#waits = true;
      this.#keep(bytes.subarray(from));
      return;
    }
  }

  #hand(bytes: Uint8Array, from: number, to: number): void {
    this.#readBytes += to - from;
    const end = this.#framing.lastRecordEnd(bytes, from, to);
    this.#uncountedBytes = end === from ? this.#uncountedBytes + to - from : to - end;
    this.#reader.onBody(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
  }

  #isCovered(bytes: number): boolean {
    return this.#meter.coversMore(this.#uncountedBytes + bytes);
  }

  /** As many complete records as are certainly covered, otherwise the next one. */
  #pieceEnd(bytes: Uint8Array, from: number): number {
    if (this.#uncountedBytes === 0 && this.#previews) {
      const known = this.#meter.coveredEnd(bytes.subarray(from, from + PREVIEW_BYTES_MAX), 0);
      if (known > 0) return from + known;
      // A second failure in this read would only cost time. Before the first record no record is known.
      this.#previews = from === 0;
    }
    let size = bytes.length - from;
    while (size > PIECE_BYTES_MIN && !this.#isCovered(size)) size >>= 1;
    const end = this.#isCovered(size) ? this.#framing.lastRecordEnd(bytes, from, from + size) : from;
    return end === from ? this.#framing.firstRecordEnd(bytes, from, bytes.length) : end;
  }
}
