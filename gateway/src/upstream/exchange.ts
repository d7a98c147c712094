/**
 * Runs one HTTP request and its response on one connection: time limits, backpressure both ways, abort, and, where a
 * request may go out twice, one retry of a stale idle connection. Knows no model wire format.
 */
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../lib/deadlines.ts';
import { freeBytes, freeMemory } from '../lib/free-bytes.ts';
import { type BodySource, type FeedListener, RequestFeed } from './body-source.ts';
import { ChunkedBody } from './chunked-body.ts';
import {
  because,
  type Connection,
  type ConnectionUser,
  isOurFault,
  type Origin,
  returnIdle,
  takeIdle,
  type UpstreamFailure,
  type UpstreamFailureKind,
} from './connection.ts';
import { dial } from './dial.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

/**
 * The request line and all headers with the blank line, ASCII. A promise where the request has yet to be authorized: it
 * counts as connecting, and its rejection ends the exchange.
 */
export type RequestHead = string | Promise<string>;

/** Milliseconds. `idle` counts from the last upstream byte; `total` from the start. */
export interface ExchangeLimits {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
  readonly responseBytesMax: number;
  /**
   * Sends the request once more, on a fresh connection, where a reused one closed before the first byte of an answer.
   * Nearly always the upstream closed an idle connection; it may have read the request all the same.
   */
  readonly mayResend: boolean;
  /** Takes a new connection although there may be an idle one. */
  readonly fresh?: boolean;
}

/** Exactly one of `onEnd` and `onFailure` is called, and nothing after it. Spans may be kept. */
export interface ExchangeListener {
  onHead(head: ResponseHead): void;
  onBody(span: Uint8Array): void;
  onEnd(): void;
  onFailure(failure: UpstreamFailure): void;
}

/** Times at which an exchange passed its marks, on the `performance.now()` clock; 0: not yet. */
export interface UpstreamMarks {
  /** The request started to go out: from then on the upstream may have it. */
  readonly sentAtMs: number;
  readonly headAtMs: number;
  /** The latest bytes received. */
  readonly lastByteAtMs: number;
  /** How many exchanges the attempt took so far. Absent: 1. */
  readonly exchanges?: number;
  /** The service of the provider that got the latest exchange. Absent: it has one only. */
  readonly door?: string;
  /** Values of the client's headers that the provider does not get. Absent: none. */
  readonly dropped?: readonly string[];
}

/** A running exchange, over HTTP or inside the gateway. After `abort` its listener is not called. */
export interface UpstreamTap extends UpstreamMarks {
  pause(): void;
  resume(): void;
  abort(): void;
  /** No span is used after `onBody` returns: from then on the memory of each read is freed at once. Absent: it is not. */
  freesReads?: boolean;
}

const HEAD_BYTES_MAX = 64 * 1024;
const HEAD_END = '\r\n\r\n';
/** Joins the head of a request and a short body for one write, within one turn: each request would take new memory. */
const joined = Buffer.allocUnsafeSlow(32 * 1024);
/**
 * Informational responses (RFC 9110 section 15.2) before the final one. 101 is excluded: the client requests no
 * protocol upgrade.
 */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;
/** Where the status begins. */
const INTERIM_AT = 'HTTP/1.1 '.length;
const INTERIM_MAX = 16;

type Phase = 'authorize' | 'connect' | 'first_byte' | 'body' | 'over';

/** One exchange; starts at construction. */
export class Exchange implements ConnectionUser, Deadline, FeedListener, UpstreamTap {
  dueMs: number;
  slot = UNWATCHED;
  sentAtMs = 0;
  headAtMs = 0;
  lastByteAtMs = 0;
  freesReads = false;
  readonly #origin: Origin;
  readonly #body: Uint8Array | BodySource;
  readonly #limits: ExchangeLimits;
  readonly #listener: ExchangeListener;
  readonly #totalDueMs: number;
  /** Empty until the request is authorized. */
  #requestHead = '';
  #phase: Phase = 'connect';
  #connection: Connection | null = null;
  #giveUp: (() => void) | null = null;
  /** What one write of the request did not send; null: it sent all of it. */
  #feed: RequestFeed | null = null;
  #headBytes: Buffer | null = null;
  #anyByte = false;
  #interims = 0;
  #firstByteDueMs = 0;
  #head: ResponseHead | null = null;
  #chunked: ChunkedBody | null = null;
  #left = 0;
  #received = 0;
  #paused = false;

  constructor(
    origin: Origin,
    head: RequestHead,
    body: Uint8Array | BodySource,
    limits: ExchangeLimits,
    listener: ExchangeListener,
  ) {
    this.#origin = origin;
    this.#body = body;
    this.#limits = limits;
    this.#listener = listener;
    const nowMs = performance.now();
    this.#totalDueMs = nowMs + limits.totalMs;
    this.dueMs = this.#totalDueMs;
    watchDeadline(this);
    if (typeof head === 'string') {
      this.#requestHead = head;
      this.#connect(nowMs);
    } else {
      this.#phase = 'authorize';
      this.#touch(limits.connectMs, nowMs);
      void this.#authorize(head);
    }
  }

  /** Stops reading: the kernel's buffers fill and upstream slows down. The idle limit is paused meanwhile. */
  pause(): void {
    if (this.#paused || this.#phase === 'over') return;
    this.#paused = true;
    this.#connection?.socket.pause();
    this.dueMs = this.#totalDueMs;
  }

  resume(): void {
    if (!this.#paused || this.#phase === 'over') return;
    this.#paused = false;
    this.#touch(this.#limits.idleMs, performance.now());
    this.#connection?.socket.resume();
  }

  /** Cancels the exchange: upstream sees its connection closed at once. Nothing is called afterwards. */
  abort(): void {
    if (this.#phase !== 'over') this.#close();
  }

  onDue(nowMs: number): void {
    if (nowMs >= this.#totalDueMs) this.#fail('total_timeout', `no end within ${this.#limits.totalMs} ms`);
    else if (this.#phase === 'authorize')
      this.#fail('authorization', `not authorized within ${this.#limits.connectMs} ms`);
    else if (this.#phase === 'connect')
      this.#fail('connect_timeout', `no connection within ${this.#limits.connectMs} ms`);
    else if (this.#head === null && nowMs >= this.#firstByteDueMs)
      this.#fail('first_byte_timeout', `no answer within ${this.#limits.firstByteMs} ms`);
    else this.#fail('idle_timeout', `silent for ${this.#limits.idleMs} ms`);
  }

  onDrain(): void {
    this.#feed?.flush();
  }

  /** An upload takes its time: the answer is due after its last byte. */
  onTaken(): void {
    if (this.#head !== null || this.#paused) return;
    this.#touch(this.#limits.firstByteMs, performance.now());
    this.#firstByteDueMs = this.dueMs;
  }

  onFault(error: Error): void {
    this.#fail('fault', error.stack ?? error.message);
  }

  onClosed(error: Error | null): void {
    if (this.#phase === 'over') return;
    if (error !== null && isOurFault(error)) {
      this.#fail('fault', error.stack ?? error.message);
    } else if (this.#isStale() && this.#limits.mayResend) {
      this.#feed?.stop();
      this.#feed = null;
      this.#dial(performance.now());
    } else if (this.#head?.framing === 'close' && error === null) {
      this.#end(false);
    } else if (this.#head === null) {
      const where = this.#anyByte ? 'the connection closed inside the response head' : 'closed without an answer';
      this.#fail('reset', `${where}${because(error)}`);
    } else {
      this.#fail('truncated', `the connection closed before the end of the response${because(error)}`);
    }
  }

  onBytes(bytes: Buffer): void {
    if (this.#phase === 'over') return;
    this.#anyByte = true;
    this.lastByteAtMs = performance.now();
    if (this.#head === null) this.#readHead(bytes);
    else {
      if (!this.#paused) this.#touch(this.#limits.idleMs, this.lastByteAtMs);
      this.#readBody(bytes, 0);
    }
    if (this.freesReads && this.#head !== null) freeBytes(bytes);
  }

  async #authorize(head: Promise<string>): Promise<void> {
    try {
      this.#requestHead = await head;
    } catch (error) {
      this.#fail('authorization', error instanceof Error ? error.message : String(error));
    }
    if (this.#phase === 'authorize') this.#connect(performance.now());
  }

  #connect(nowMs: number): void {
    const connection = this.#limits.fresh === true ? null : takeIdle(this.#origin, nowMs);
    if (connection === null) this.#dial(nowMs);
    else this.#send(connection, nowMs);
  }

  #dial(nowMs: number): void {
    this.#phase = 'connect';
    this.#connection = null;
    this.dueMs = Math.min(this.#totalDueMs, nowMs + this.#limits.connectMs);
    this.#giveUp = dial(this.#origin, (outcome) => {
      this.#giveUp = null;
      if ('socket' in outcome) this.#send(outcome, performance.now());
      else this.#fail(outcome.kind, outcome.message);
    });
  }

  #send(connection: Connection, nowMs: number): void {
    this.#connection = connection;
    connection.user = this;
    this.#phase = 'first_byte';
    this.#interims = 0;
    this.sentAtMs = nowMs;
    this.#touch(this.#limits.firstByteMs, nowMs);
    this.#firstByteDueMs = this.dueMs;
    if (this.#paused) {
      connection.socket.pause();
      this.dueMs = this.#totalDueMs;
    }
    const body = this.#body;
    const head = this.#requestHead;
    const size = head.length + body.length;
    if (size > joined.length || !(body instanceof Uint8Array)) {
      this.#startFeed(Buffer.from(head, 'latin1'), body, connection);
      return;
    }
    joined.write(head, 0, 'latin1');
    joined.set(body, head.length);
    const written = Math.max(0, connection.socket.write(joined, 0, size));
    if (written < size) this.#startFeed(Buffer.from(joined.subarray(written, size)), null, connection);
  }

  #startFeed(first: Buffer, rest: Uint8Array | BodySource | null, { socket }: Connection): void {
    this.#feed = new RequestFeed(first, rest, socket, this);
    this.#feed.flush();
  }

  /** A reused connection that closes now was closed by its peer while it was idle. */
  #isStale(): boolean {
    return !this.#anyByte && this.#connection?.reused === true;
  }

  #touch(limitMs: number, nowMs: number): void {
    this.dueMs = Math.min(this.#totalDueMs, nowMs + limitMs);
  }

  /** Skips interim responses; all of them together must stay within the first-byte limit. */
  #readHead(bytes: Buffer): void {
    let all = this.#headBytes === null ? bytes : Buffer.concat([this.#headBytes, bytes]);
    let end = all.indexOf(HEAD_END);
    let text = '';
    for (; end !== -1 && end <= HEAD_BYTES_MAX; end = all.indexOf(HEAD_END)) {
      text = all.toString('latin1', 0, end);
      if (text[INTERIM_AT] !== '1' || !INTERIM.test(text)) break;
      this.#interims += 1;
      if (this.#interims > INTERIM_MAX) {
        this.#fail('malformed', `more than ${INTERIM_MAX} interim responses (1xx) before the response`);
        return;
      }
      all = all.subarray(end + HEAD_END.length);
    }
    if (end > HEAD_BYTES_MAX || (end === -1 && all.length > HEAD_BYTES_MAX)) {
      this.#fail('malformed', 'the response head is larger than 64 KiB');
      return;
    }
    if (end === -1) {
      this.#headBytes = all;
      if (this.#paused) return;
      if (all.length > 0) this.#touch(this.#limits.idleMs, this.lastByteAtMs);
      this.dueMs = all.length === 0 ? this.#firstByteDueMs : Math.min(this.dueMs, this.#firstByteDueMs);
      return;
    }
    this.#headBytes = null;
    if (!this.#paused) this.#touch(this.#limits.idleMs, this.lastByteAtMs);
    const head = parseResponseHead(text);
    if (typeof head === 'string') {
      this.#fail('malformed', head);
      return;
    }
    this.#head = head;
    this.headAtMs = this.lastByteAtMs;
    this.#left = head.lengthBytes;
    if (head.framing === 'chunked') this.#chunked = new ChunkedBody();
    this.#phase = 'body';
    this.#listener.onHead(head);
    this.#readBody(all, end + 4);
  }

  #readBody(bytes: Buffer, start: number): void {
    const head = this.#head;
    if (this.#isOver() || head === null) return;
    if (head.framing === 'chunked') this.#readChunked(bytes, start);
    else if (head.framing === 'close') {
      if (start < bytes.length) this.#emit(bytes.subarray(start));
    } else {
      const end = Math.min(bytes.length, start + this.#left);
      this.#left -= end - start;
      if (end > start) this.#emit(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
      if (this.#left === 0 && !this.#isOver()) this.#end(end === bytes.length);
    }
  }

  #readChunked(bytes: Buffer, start: number): void {
    const chunked = this.#chunked;
    if (chunked === null) return;
    const taken = chunked.push(bytes, start, (span) => {
      this.#emit(span);
      if (this.freesReads && span.buffer !== bytes.buffer) freeMemory(span); // Joined from several chunks.
    });
    if (this.#isOver()) return;
    if (typeof taken === 'string') this.#fail('malformed', taken);
    else if (chunked.done) this.#end(taken === bytes.length);
  }

  #emit(span: Buffer): void {
    if (this.#phase === 'over') return;
    this.#received += span.length;
    if (this.#received > this.#limits.responseBytesMax) {
      this.#fail('too_large', `the response is larger than ${this.#limits.responseBytesMax} bytes`);
    } else {
      this.#listener.onBody(span);
    }
  }

  /** The listener may abort inside one of our callbacks; the compiler cannot see that. */
  #isOver(): boolean {
    return this.#phase === 'over';
  }

  #end(clean: boolean): void {
    const connection = this.#connection;
    const reusable = clean && this.#head?.keepAlive === true && this.#feed?.isDone !== false && !this.#paused;
    if (connection !== null && reusable) {
      this.#phase = 'over';
      unwatchDeadline(this);
      returnIdle(connection, this.lastByteAtMs);
    } else this.#close();
    this.#listener.onEnd();
  }

  #fail(kind: UpstreamFailureKind, message: string): void {
    if (this.#phase === 'over') return;
    this.#close();
    this.#listener.onFailure({ kind, message, sent: this.sentAtMs > 0, stale: kind === 'reset' && this.#isStale() });
  }

  #close(): void {
    this.#phase = 'over';
    unwatchDeadline(this);
    this.#giveUp?.();
    this.#feed?.stop();
    const connection = this.#connection;
    if (connection !== null) {
      connection.user = null;
      connection.closed = true;
      connection.socket.terminate();
    }
  }
}
