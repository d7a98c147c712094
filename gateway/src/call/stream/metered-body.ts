/**
 * Owns handing what upstream sends to the reader of a metered stream in pieces that what is held covers: of a burst, whole
 * records are read one after the other up to the first that nothing covers, and the rest waits unread for the next slice.
 * What was not read is neither forwarded nor charged.
 */

import { firstRecordEnd, lastRecordEnd } from '../../framing/line-ends.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { UpstreamFailure } from '../../upstream/failure.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { Backlog } from './outbox.ts';

/** Who reads the stream. It is told how much waits, and when nothing does any more, to pause upstream. */
export interface MeteredReader extends ExchangeListener {
  onBacklog(bytes: number): void;
  onCaughtUp(): void;
}

/** What is asked of a meter; see `StreamMeter`. */
export interface BodyMeter {
  covers(): boolean;
  expect(aheadShare: number): void;
  coversMore(bytes: number): boolean;
}

/** Smaller pieces are not looked for: from here on it goes record by record. */
const PIECE_BYTES_MIN = 512;

export class MeteredBody implements ExchangeListener {
  readonly #reader: MeteredReader;
  readonly #meter: BodyMeter;
  /** What came behind a record that is not covered yet: first the rest of what was being read, then copies, for a view keeps a whole read alive. */
  #rest: Uint8Array | null = null;
  readonly #waiting = new Backlog();
  #waits = false;
  /** What upstream ended with while something waited. */
  #ending: (() => void) | null = null;
  /** Read, but perhaps the beginning of a record that is still to be counted. */
  #uncountedBytes = 0;
  #readBytes = 0;

  constructor(reader: MeteredReader, meter: BodyMeter) {
    this.#reader = reader;
    this.#meter = meter;
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

  /** What waited may be read, as far as it is covered now. */
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

  /** What waits is never read: the stream has ended for its reader. */
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

  /** What is left of what was being read: before all that waits already. */
  #keep(bytes: Uint8Array): void {
    if (this.#waiting.byteCount === 0) this.#waiting.append(bytes);
    else this.#rest = bytes;
    this.#reader.onBacklog(this.#waitingBytes());
  }

  /** No byte of a stream makes more than one byte of output, so most reads are seen to be covered before they are read. */
  #read(bytes: Uint8Array): void {
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
    const end = lastRecordEnd(bytes, from, to);
    this.#uncountedBytes = end === from ? this.#uncountedBytes + to - from : to - end;
    this.#reader.onBody(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
  }

  #isCovered(bytes: number): boolean {
    return this.#meter.coversMore(this.#uncountedBytes + bytes);
  }

  /** As many whole records as are surely covered, else the next one. */
  #pieceEnd(bytes: Uint8Array, from: number): number {
    let size = bytes.length - from;
    while (size > PIECE_BYTES_MIN && !this.#isCovered(size)) size >>= 1;
    const end = this.#isCovered(size) ? lastRecordEnd(bytes, from, from + size) : from;
    return end === from ? firstRecordEnd(bytes, from, bytes.length) : end;
  }
}
