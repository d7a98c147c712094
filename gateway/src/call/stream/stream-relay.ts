/**
 * Relays one streamed answer from upstream to the client: observes records and passes them on as bytes, holds the end
 * back until the record is durable, and reports failures after the first byte in-band.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { type FramingOutput, rawBytes, type SkimmedRecords, type StreamRecord } from '../../framing/framing.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { RecordVerdict, StreamObserver } from '../../protocols/upstream-protocol.ts';
import { headerOf, type ResponseHead, type UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { AnswerCollector, type AnswerListener, type CollectedAnswer } from '../attempt/collect-answer.ts';
import * as outcome from '../attempt/upstream-outcome.ts';
import type { DirectController, Outbox, OutboxListener } from './outbox.ts';
import { bytesAsTheyCame, type ClientBytes, rewrittenBytes } from './record-bytes.ts';
import type { RelaySettings, RelayStart } from './relay-settings.ts';

/** How long upstream may take to end after its last record, so that its connection can be reused and its usage read. */
const LINGER_MS = 2_000;
const PREAMBLE_BYTES_MAX = 16 * 1024;

export class StreamRelay implements ExchangeListener, AnswerListener, OutboxListener, Deadline {
  readonly #started = Promise.withResolvers<RelayStart>();
  readonly started = this.#started.promise;
  /** Resolves once the stream is complete and settled; null: it goes on. */
  ended: Promise<void> | null = null;
  dueMs: number;
  slot = UNWATCHED;
  readonly #settings: RelaySettings;
  readonly #observer: StreamObserver;
  readonly #decoder;
  readonly #outbox: Outbox;
  #tap: UpstreamTap | null = null;
  #collector: AnswerCollector | null = null;
  /** The head names no event stream; the first byte of the body shows whether it is one. */
  #mayBeStream = false;
  /** `waiting` for upstream, `open` to the client, `failing`: an error was passed on, `ended`: settling or settled. */
  #phase: 'waiting' | 'open' | 'failing' | 'ended' = 'waiting';
  #failure: CallFailure | null = null;
  #anyRecord = false;
  #answered = false;
  #preamble = Buffer.alloc(0);
  readonly #bytes: ClientBytes;
  #upstreamDone = false;
  #paused = false;
  #lastSpanBytes = 0;

  constructor(settings: RelaySettings) {
    const { limits, observer, framing } = settings;
    this.#settings = settings;
    this.#outbox = settings.openOutbox(this);
    this.#observer = observer;
    this.#bytes = observer.rewrites ? rewrittenBytes : bytesAsTheyCame();
    this.#decoder = framing.startDecoder(limits.sseRecordBytesMax, (bytes, start) => observer.skim(bytes, start));
    this.dueMs = performance.now() + limits.commitAfterMs;
    watchDeadline(this);
  }

  /** Connects the upstream side, which was started with this relay as its listener. */
  connect(tap: UpstreamTap): void {
    if (this.#upstreamDone) return;
    this.#tap = tap;
    if (this.#phase === 'ended') tap.abort();
  }

  /** The reply's body: in one piece if it is complete, otherwise as it comes. */
  body(): ReadableStream | Buffer {
    const whole = this.#outbox.takeWhole();
    if (whole !== null) return whole;
    const source = {
      type: 'direct' as const,
      pull: (controller: DirectController) => this.#outbox.attach(controller),
      cancel: () => this.leave(),
    };
    return new ReadableStream(source as unknown as Bun.DirectUnderlyingSource);
  }

  /** The client left: aborts upstream at once and settles the usage so far. */
  leave(): void {
    if (this.#phase === 'ended') this.#outbox.kill();
    else this.#giveUp('client_left', 499);
  }

  /** Ends the stream for the gateway (shutdown, money ran out): sends the failure in place of held-back output. */
  interrupt(failure: CallFailure): void {
    if (this.#phase !== 'open' && this.#phase !== 'waiting') return;
    this.#outbox.dropHeld();
    this.#fail(failure);
  }

  onHead(head: ResponseHead): void {
    this.#settings.onFirstByte();
    this.#mayBeStream = head.status === 200 && headerOf(head, 'content-encoding') === null;
    if (this.#mayBeStream && this.#settings.framing.isStream(headerOf(head, 'content-type') ?? '')) return;
    this.#collector = new AnswerCollector(this.#settings.limits, this);
    this.#collector.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#mayBeStream) this.#begin(span);
    if (this.#collector !== null) {
      this.#collector.onBody(span);
      return;
    }
    this.#lastSpanBytes = span.length;
    this.#decoder.feed(span, this.#take);
    if (this.#phase === 'open' || this.#phase === 'failing') this.#flush();
  }

  /** Handles the first bytes of a possible stream. */
  #begin(span: Uint8Array): void {
    this.#mayBeStream = false;
    if (this.#settings.framing.beginsStream(span)) this.#collector = null;
    if (this.#collector !== null) return;
    this.#answered = true;
    if (this.#phase === 'open') this.#settings.onStarted();
  }

  onEnd(): void {
    this.#upstreamEnds();
    if (this.#collector !== null) {
      this.#collector.onEnd();
      return;
    }
    for (const output of this.#decoder.finish()) this.#takeTail(output);
    if (this.#phase === 'failing') this.#end(null, this.#failure);
    else if (this.#phase !== 'ended') this.#endWithoutTerminal();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#upstreamEnds();
    if (this.#collector !== null) this.#collector.onFailure(failure);
    else if (this.#phase === 'failing') this.#end(null, this.#failure);
    else this.#fail(outcome.failureOfTransport(failure));
  }

  /** Pauses before the limit is exceeded, not after: bytes read from upstream's socket cannot be put back. */
  onBacklog(bytes: number): void {
    if (this.#paused || bytes + this.#lastSpanBytes <= this.#settings.limits.slowReaderBytesMax) return;
    this.#paused = true;
    this.#tap?.pause();
  }

  onCaughtUp(): void {
    this.#rest();
    this.#tidy();
    if (!this.#paused || this.#outbox.full) return;
    this.#paused = false;
    this.#tap?.resume();
  }

  onDue(nowMs: number): void {
    if (this.#phase === 'waiting') {
      this.#commit();
      this.#outbox.put(this.#settings.protocol.keepAlive);
      this.#flush();
    } else if (this.#phase === 'ended') {
      this.#endLinger(nowMs);
    } else if (this.#outbox.full) {
      if (this.#isStuck(nowMs)) this.#giveUp('reader_too_slow', 200);
      else this.#rest();
    } else if (this.#phase === 'open') {
      this.#outbox.put(this.#settings.protocol.keepAlive);
      this.#flush();
    } else {
      this.#tap?.abort();
      this.#end(null, this.#failure);
    }
  }

  readonly #take = (output: FramingOutput | SkimmedRecords): void => {
    if (this.#phase === 'ended') return;
    if (output.kind === 'problem') {
      this.#tap?.abort();
      this.#fail(
        new CallFailure('upstream_malformed', 'an event of the model provider is too large', { cause: output.message }),
      );
      return;
    }
    if (output.kind === 'skimmed') {
      if (this.#phase !== 'failing') this.#act(output, this.#observer.rewrites ? 'replace' : 'pass');
      return;
    }
    if (output.kind !== 'event') {
      this.#takeSilent(output);
      return;
    }
    const verdict = this.#observer.observe(output);
    if (this.#phase !== 'failing') this.#act(output, verdict);
  };

  /** Records without content wait for the first event, up to a limit, so that an error can still set the status. */
  #takeSilent(record: StreamRecord): void {
    if (this.#phase === 'open') this.#outbox.put(this.#bytes.silent(record));
    if (this.#phase !== 'waiting' || this.#observer.rewrites) return;
    this.#preamble = Buffer.concat([this.#preamble, rawBytes(record)]);
    if (this.#preamble.length > PREAMBLE_BYTES_MAX) this.#commit();
  }

  #act(record: StreamRecord | SkimmedRecords, verdict: RecordVerdict): void {
    if (verdict === 'pass') this.#pass(record);
    else if (verdict === 'replace') this.#forwardReplacement();
    else if (record.kind !== 'skimmed') this.#actOnRecord(record, verdict);
  }

  #actOnRecord(record: StreamRecord, verdict: Exclude<RecordVerdict, 'pass' | 'replace'>): void {
    switch (verdict) {
      case 'silent':
        this.#takeSilent(record);
        return;
      case 'withhold':
        this.#outbox.put(this.#bytes.withheld(record));
        return;
      case 'terminal':
        this.#commit();
        this.#end(this.#bytes.last(record, this.#observer.replacement), null);
        return;
      case 'error':
        this.#takeError(record);
        return;
      case 'malformed':
        this.#tap?.abort();
        this.#fail(new CallFailure('upstream_malformed', 'the model provider sent an event that is not JSON'));
    }
  }

  /** A tail without a final blank line counts if it is complete, as clients read it; else it was truncated. */
  #takeTail(output: FramingOutput): void {
    if (output.kind === 'problem' || this.#phase === 'ended' || this.#phase === 'failing') return;
    const verdict = output.kind === 'event' ? this.#observer.observe(output) : 'pass';
    if (verdict === 'malformed') return;
    if (output.kind === 'event') this.#act(output, verdict);
    else this.#takeSilent(output);
    if (verdict !== 'terminal' && output.kind !== 'blank') this.#outbox.put(this.#bytes.missingBlank);
  }

  /** Before the first byte an error is a status; after it, upstream's record goes last, save our account's trouble. */
  #takeError(record: StreamRecord): void {
    const { type, message, status } = this.#observer.failure ?? { type: 'error', message: '', status: null };
    const words = this.#settings.scrub(Buffer.from(message)).toString('utf8');
    const failure = outcome.failureOfErrorWords(type, status, words);
    if (!this.#anyRecord || this.#observer.rewrites || outcome.isOperatorsFault(failure)) {
      this.#fail(failure);
      return;
    }
    this.#failure = failure;
    this.#settings.onFailure(failure);
    this.#outbox.put(this.#settings.scrub(this.#bytes.last(record, null)));
    this.#phase = 'failing';
    this.dueMs = performance.now() + LINGER_MS;
  }

  #pass(record: StreamRecord | SkimmedRecords): void {
    this.#anyRecord = true;
    this.#commit();
    this.#outbox.putSpan(record.bytes, this.#bytes.startOf(record), record.end);
  }

  #forwardReplacement(): void {
    const { replacement } = this.#observer;
    if (replacement === null) return;
    this.#anyRecord = true;
    this.#commit();
    this.#outbox.put(this.#bytes.replaced(replacement));
  }

  #flush(): void {
    this.#outbox.flush();
    this.#rest();
  }

  /** Sets the next deadline after bytes were sent or got stuck. */
  #rest(): void {
    if (this.#phase !== 'open') return;
    const { keepAliveMs, slowReaderTimeoutMs } = this.#settings.limits;
    this.dueMs = this.#outbox.full ? this.#outbox.stuckSinceMs + slowReaderTimeoutMs : performance.now() + keepAliveMs;
  }

  /** Whether the client has taken nothing for its full timeout; data from upstream does not extend it. */
  #isStuck(nowMs: number): boolean {
    return this.#outbox.full && nowMs >= this.#outbox.stuckSinceMs + this.#settings.limits.slowReaderTimeoutMs;
  }

  /** Commits to status 200. */
  #commit(): void {
    if (this.#phase !== 'waiting') return;
    this.#phase = 'open';
    this.dueMs = performance.now() + this.#settings.limits.keepAliveMs;
    this.#outbox.put(this.#preamble);
    if (this.#answered) this.#settings.onStarted();
    this.#started.resolve({ kind: 'stream' });
  }

  #endWithoutTerminal(): void {
    const missingEnd = this.#observer.endOfBytes();
    if (missingEnd !== null) {
      this.#commit();
      this.#end(missingEnd, null);
    } else {
      this.#fail(outcome.failureOfEarlyEnd());
    }
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswerFailed(failure: CallFailure): void {
    this.#fail(failure);
  }

  onAnswer(answer: CollectedAnswer): void {
    if (this.#phase === 'waiting') {
      this.#phase = 'ended';
      unwatchDeadline(this);
      this.#started.resolve({ kind: 'collected', answer });
    } else if (this.#phase !== 'ended') {
      this.#fail(this.#settings.failureOfLate(answer));
    }
  }

  #fail(failure: CallFailure): void {
    if (this.#phase === 'ended') return;
    this.#tap?.abort();
    if (this.#phase === 'waiting') {
      this.#phase = 'ended';
      unwatchDeadline(this);
      this.#started.reject(failure);
      return;
    }
    this.#settings.onFailure(failure);
    this.#end(this.#settings.protocol.renderStreamError(failure, this.#settings.requestId), failure);
  }

  /** The last bytes go out only after the record is durable; if it cannot be kept, the client gets an error instead. */
  #end(lastBytes: Uint8Array | null, failure: CallFailure | null): void {
    this.#phase = 'ended';
    this.dueMs = performance.now() + LINGER_MS;
    const facts = this.#observer.facts();
    this.ended = this.#settings.settle({ status: 200, failure: failure?.kind ?? null, facts }, lastBytes).then(
      () => this.#close(lastBytes),
      (cause: unknown) => {
        const away = new CallFailure('store_unavailable', 'the call could not be recorded; try again', { cause });
        this.#settings.onFailure(away);
        this.#close(this.#settings.protocol.renderStreamError(away, this.#settings.requestId));
      },
    );
    this.#outbox.flush();
  }

  #close(lastBytes: Uint8Array | null): void {
    if (lastBytes !== null) this.#outbox.put(lastBytes);
    this.#outbox.close();
    this.#settings.onClosed();
    this.#tidy();
  }

  /** After the end: first upstream gets time to end, then the client gets time to take the rest. */
  #endLinger(nowMs: number): void {
    if (this.#upstreamDone) {
      if (this.#outbox.full && !this.#isStuck(nowMs)) {
        this.dueMs = this.#outbox.stuckSinceMs + this.#settings.limits.slowReaderTimeoutMs;
        return;
      }
      this.#outbox.kill();
      unwatchDeadline(this);
      return;
    }
    this.#tap?.abort();
    this.#upstreamEnds();
    this.dueMs = nowMs + this.#settings.limits.slowReaderTimeoutMs;
  }

  /** Stops the deadline once nothing is left to wait for. */
  #tidy(): void {
    if (this.#phase === 'ended' && this.#upstreamDone && this.#outbox.closed) unwatchDeadline(this);
  }

  #giveUp(kind: 'client_left' | 'reader_too_slow', status: number): void {
    const waiting = this.#phase === 'waiting';
    this.#phase = 'ended';
    this.#tap?.abort();
    unwatchDeadline(this);
    this.#outbox.kill();
    if (waiting) {
      this.#started.reject(new CallFailure(kind, 'the client left before its answer began'));
      return;
    }
    this.#settings.settle({ status, failure: kind, facts: this.#observer.facts() }, null).catch((cause: unknown) => {
      this.#settings.onFailure(new CallFailure('store_unavailable', 'the call could not be recorded', { cause }));
    });
    this.#settings.onClosed();
  }

  #upstreamEnds(): void {
    this.#upstreamDone = true;
    this.#tap = null;
    if (this.#phase === 'ended') this.dueMs = performance.now() + this.#settings.limits.slowReaderTimeoutMs;
    this.#tidy();
  }
}
