/**
 * Delivers one streamed answer to the client, whichever attempt answers: commits the status, keeps the connection alive,
 * holds the end back until the record is durable, and reports failures after the first byte in-band.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { AnswerFacts, StreamPosition } from '../../protocols/upstream-protocol.ts';
import type { Outcome } from '../money/settle.ts';
import {
  type AnswerEnd,
  type AnswerStream,
  type DirectController,
  type Outbox,
  type OutboxListener,
  streamBody,
} from './outbox.ts';

/** How long upstream may take to end after its last record, so that its connection can be reused and its usage read. */
const LINGER_MS = 2_000;

export interface ClientStreamParts {
  readonly protocol: ClientProtocol;
  readonly requestId: string;
  /** That was asked for. */
  readonly model: string;
  /** The answer has records, among which the gateway may put its own. */
  readonly hasRecords: boolean;
  readonly limits: {
    readonly commitAfterMs: number;
    readonly keepAliveMs: number;
    readonly slowReaderBytesMax: number;
    readonly slowReaderTimeoutMs: number;
  };
  /** Opens the outbox to the client, with the stream as its listener. */
  openOutbox(listener: OutboxListener): Outbox;
  /** Called once; resolves when the record is durable. `last`: the bytes that end the stream. */
  settle(outcome: Outcome, last: Uint8Array | null): Promise<void>;
  onFailure(failure: CallFailure): void;
  /** The failure as the client hears of it, after `onFailure`. */
  tell(failure: CallFailure): CallFailure;
  /** Whether the answer goes on at its provider, after `settle`. */
  goesOn(): boolean;
  /** The status is 200 from now on. */
  onCommitted(): void;
  /** The client left, or takes nothing, before any attempt had content: all attempts end. */
  onGivenUp(failure: CallFailure): void;
  onClosed(): void;
}

/** The attempt that answers, as its stream sees it. */
export interface StreamSource {
  pause(): void;
  resume(): void;
  /** Upstream's connection ends at once. */
  abort(): void;
  /** Whether upstream's connection has ended. */
  readonly done: boolean;
  /** The size of the latest read from upstream, which bytes after a pause may reach. */
  readonly lastSpanBytes: number;
  /** Where the answer is, for an error that continues it; undefined: errors need no such thing. */
  readonly position: StreamPosition | undefined;
  facts(): AnswerFacts;
}

export class ClientStream implements AnswerStream, OutboxListener, Deadline {
  /** Resolves once the stream is complete and settled; null: it goes on. */
  ended: Promise<void> | null = null;
  dueMs: number;
  slot = UNWATCHED;
  readonly outbox: Outbox;
  readonly #parts: ClientStreamParts;
  /** Null: no attempt has content yet. */
  #source: StreamSource | null = null;
  /** `waiting`: no byte has gone out, `open` to the client, `failing`: an error was passed on, `ended`: settling or settled. */
  #phase: 'waiting' | 'open' | 'failing' | 'ended' = 'waiting';
  #failure: CallFailure | null = null;
  #paused = false;

  constructor(parts: ClientStreamParts) {
    this.#parts = parts;
    this.outbox = parts.openOutbox(this);
    this.dueMs = this.#silentUntilMs(parts.limits.commitAfterMs);
    watchDeadline(this);
  }

  /** Whether the client got status 200, so that a failure can only be told in-band. */
  get committed(): boolean {
    return this.#phase !== 'waiting';
  }

  /** Whether an attempt has content, so that its target is final. */
  get begun(): boolean {
    return this.#source !== null;
  }

  /** The reply's body: in one piece if it is complete, otherwise as it comes. */
  body(): ReadableStream | Buffer {
    const whole = this.outbox.takeWhole();
    return whole ?? streamBody(this);
  }

  /** Connects the client. Resolves when everything was handed over; rejects if the client is given up. */
  attach(controller: DirectController): Promise<void> {
    return this.outbox.attach(controller);
  }

  /** An attempt has content: it is the answer, and its bytes follow. */
  begin(source: StreamSource): void {
    this.#source = source;
    this.#commit();
  }

  /** Sends what was put into the outbox. */
  flush(): void {
    this.outbox.flush();
    this.#rest();
  }

  /** Passes on upstream's own error as the last record; upstream may still tell its usage. */
  passError(failure: CallFailure, record: Uint8Array): void {
    this.#failure = failure;
    this.#parts.onFailure(failure);
    this.outbox.put(record);
    if (this.#phase !== 'open') return;
    this.#phase = 'failing';
    this.dueMs = performance.now() + LINGER_MS;
  }

  /** Whether `passError` was called. */
  get failing(): boolean {
    return this.#phase === 'failing';
  }

  /** Ends a stream whose error was passed on. */
  endFailing(): void {
    if (this.#phase === 'failing') this.#end(null, this.#failure);
  }

  /** Ends a complete stream. */
  complete(lastBytes: Uint8Array): void {
    const ending = this.outbox.finish(lastBytes);
    if (ending instanceof Promise) void ending.then((end) => this.#completeWith(end));
    else this.#completeWith(ending);
  }

  #completeWith({ last, failure }: AnswerEnd): void {
    if (this.#phase !== 'open') return;
    if (failure === null) this.#end(last, null);
    else this.fail(failure);
  }

  /** Ends a committed stream with the failure in-band. */
  fail(failure: CallFailure): void {
    if (this.#phase === 'ended') return;
    this.#source?.abort();
    this.#parts.onFailure(failure);
    this.#end(this.#renderError(failure), failure);
  }

  /** Ends the stream for the gateway (shutdown, money ran out): sends the failure in place of held-back output. */
  interrupt(failure: CallFailure): void {
    if (this.#phase !== 'open') return;
    this.outbox.dropHeld();
    this.fail(failure);
  }

  /** The call gets no stream: nothing of it went out. */
  discard(): void {
    this.#phase = 'ended';
    unwatchDeadline(this);
  }

  /** The client left: aborts upstream at once and settles the usage so far. */
  leave(): void {
    if (this.#phase === 'ended') this.outbox.kill();
    else this.#giveUp('client_left', 499);
  }

  /** Pauses before the limit is exceeded, not after: bytes read from upstream's socket cannot be put back. */
  onBacklog(bytes: number): void {
    const source = this.#source;
    if (this.#paused || source === null) return;
    if (bytes + source.lastSpanBytes <= this.#parts.limits.slowReaderBytesMax) return;
    this.#paused = true;
    source.pause();
  }

  onCaughtUp(): void {
    this.#rest();
    this.tidy();
    if (!this.#paused || this.outbox.full) return;
    this.#paused = false;
    this.#source?.resume();
  }

  onDue(nowMs: number): void {
    if (this.#phase === 'waiting') {
      this.#commit();
      this.outbox.putOwn(this.#parts.protocol.keepAlive);
      this.flush();
    } else if (this.#phase === 'ended') {
      this.#endLinger(nowMs);
    } else if (this.outbox.full) {
      if (this.#isStuck(nowMs)) this.#giveUp('reader_too_slow', 200);
      else this.#rest();
    } else if (this.#phase === 'open') {
      this.outbox.putOwn(this.#parts.protocol.keepAlive);
      this.flush();
    } else {
      this.#source?.abort();
      this.#end(null, this.#failure);
    }
  }

  /** Upstream's connection has ended: the client gets time to take the rest. */
  onSourceDone(): void {
    if (this.#phase === 'ended') this.dueMs = performance.now() + this.#parts.limits.slowReaderTimeoutMs;
    this.tidy();
  }

  /** Stops the deadline once nothing is left to wait for. */
  tidy(): void {
    if (this.#phase === 'ended' && this.#isSourceDone() && this.outbox.closed) unwatchDeadline(this);
  }

  #isSourceDone(): boolean {
    return this.#source === null || this.#source.done;
  }

  /** Sets the next deadline after bytes were sent or got stuck. */
  #rest(): void {
    if (this.#phase !== 'open') return;
    const { keepAliveMs, slowReaderTimeoutMs } = this.#parts.limits;
    const { full, stuckSinceMs } = this.outbox;
    this.dueMs = full ? stuckSinceMs + slowReaderTimeoutMs : this.#silentUntilMs(keepAliveMs);
  }

  /** Whether the client has taken nothing for its full timeout; data from upstream does not extend it. */
  #isStuck(nowMs: number): boolean {
    return this.outbox.full && nowMs >= this.outbox.stuckSinceMs + this.#parts.limits.slowReaderTimeoutMs;
  }

  /** When the gateway says something itself; never between bytes that are no records. */
  #silentUntilMs(afterMs: number): number {
    return this.#parts.hasRecords ? performance.now() + afterMs : Number.POSITIVE_INFINITY;
  }

  /** Commits to status 200. */
  #commit(): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'open';
    this.dueMs = this.#silentUntilMs(this.#parts.limits.keepAliveMs);
    this.#parts.onCommitted();
  }

  /** The last bytes go out only after the record is durable; if it cannot be kept, the client gets an error instead. */
  #end(lastBytes: Uint8Array | null, failure: CallFailure | null): void {
    this.#phase = 'ended';
    if (failure !== null) this.outbox.finishNow();
    this.dueMs = performance.now() + (this.#isSourceDone() ? this.#parts.limits.slowReaderTimeoutMs : LINGER_MS);
    const facts = this.#source?.facts() ?? null;
    this.ended = this.#parts.settle({ status: 200, failure: failure?.kind ?? null, facts }, lastBytes).then(
      () => this.#close(lastBytes, failure),
      (cause: unknown) => {
        const away = new CallFailure('store_unavailable', 'the call could not be recorded; try again', { cause });
        this.#parts.onFailure(away);
        this.#close(this.#renderError(away), away);
      },
    );
    this.outbox.flush();
  }

  /** The failure as the end of the stream so far. */
  #renderError(failure: CallFailure): Buffer {
    return this.#parts.protocol.renderStreamError(
      this.#parts.tell(failure),
      this.#parts.requestId,
      this.#parts.model,
      this.#source?.position,
    );
  }

  /**
   * Without records a failure can only be told by a broken connection. An answer that goes on has not failed: its client
   * reads on from the last event that it got.
   */
  #close(lastBytes: Uint8Array | null, failure: CallFailure | null): void {
    if (failure !== null && !this.#parts.hasRecords) this.outbox.kill();
    else if (failure !== null && this.#parts.goesOn()) this.outbox.breakOff();
    else {
      if (lastBytes !== null) this.outbox.putOwn(lastBytes);
      this.outbox.close();
    }
    this.#parts.onClosed();
    this.tidy();
  }

  /** After the end: first upstream gets time to end, then the client gets time to take the rest. */
  #endLinger(nowMs: number): void {
    if (this.#isSourceDone()) {
      if (this.outbox.full && !this.#isStuck(nowMs)) {
        this.dueMs = this.outbox.stuckSinceMs + this.#parts.limits.slowReaderTimeoutMs;
        return;
      }
      this.outbox.kill();
      unwatchDeadline(this);
      return;
    }
    this.#source?.abort();
    this.onSourceDone();
    this.dueMs = nowMs + this.#parts.limits.slowReaderTimeoutMs;
  }

  #giveUp(kind: 'client_left' | 'reader_too_slow', status: number): void {
    const waiting = this.#phase === 'waiting';
    const failure = new CallFailure(kind, 'the client left before its answer was complete');
    this.#phase = 'ended';
    this.#source?.abort();
    unwatchDeadline(this);
    this.outbox.kill();
    if (this.#source === null) this.#parts.onGivenUp(failure);
    if (waiting) return;
    const facts = this.#source?.facts() ?? null;
    this.#parts.settle({ status, failure: kind, facts }, null).catch((cause: unknown) => {
      this.#parts.onFailure(new CallFailure('store_unavailable', 'the call could not be recorded', { cause }));
    });
    this.#parts.onClosed();
  }
}
