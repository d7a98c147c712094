/**
 * Relays the stream of one attempt: observes upstream's records, keeps them back until the first content event, and
 * passes them on as bytes from then on. Until then every end of it is an outcome of the attempt, and the client has
 * nothing.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { BYTES } from '../../framing/bytes.ts';
import type { Framing, FramingOutput, SkimmedRecords, StreamRecord } from '../../framing/framing.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver, StreamPosition } from '../../protocols/upstream-protocol.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { codingOf, headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import { AnswerCollector, type AnswerListener, type CollectLimits } from '../attempt/collect-answer.ts';
import * as outcome from '../attempt/upstream-outcome.ts';
import type { ClientStream, StreamSource } from './client-stream.ts';
import { bytesAsTheyCame, type ClientBytes, rewrittenBytes } from './record-bytes.ts';

/** The inputs of one attempt's relay. */
export interface RelayParts {
  readonly observer: StreamObserver;
  /** Upstream's framing. */
  readonly framing: Framing;
  readonly limits: CollectLimits & { readonly sseRecordBytesMax: number };
  /** The client's side. */
  readonly client: ClientStream;
  readonly listener: RelayListener;
  /** Removes secrets from upstream's messages. */
  scrub(bytes: Buffer): Buffer;
}

/** Gets the beginning of an attempt's answer: at most one of the outcomes of `AnswerListener`, or `onBegun`. */
export interface RelayListener extends AnswerListener {
  onHead(head: ResponseHead): void;
  /** The first content event was read. What follows is told to the client's side. */
  onBegun(): void;
}

/** More than this of opening records is passed on: no provider sends as much. */
const OPENING_BYTES_MAX = 256 * 1024;
const NOTHING = Buffer.alloc(0);

export class StreamRelay implements ExchangeListener, StreamSource {
  done = false;
  lastSpanBytes = 0;
  readonly #parts: RelayParts;
  readonly #observer: StreamObserver;
  readonly #decoder;
  readonly #bytes: ClientBytes;
  #tap: UpstreamTap | null = null;
  #collector: AnswerCollector | null = null;
  /** The head names no event stream; the first byte of the body shows whether it is one. */
  #mayBeStream = false;
  /** `opening`: no content yet; `begun`: the client gets it; `over`: failed, ended or aborted. */
  #phase: 'opening' | 'begun' | 'over' = 'opening';
  /** Records before the first content event: `#opening[0, #openingBytes)`. */
  #opening: Buffer = NOTHING;
  #openingBytes = 0;

  constructor(parts: RelayParts) {
    const { limits, observer, framing } = parts;
    this.#parts = parts;
    this.#observer = observer;
    this.#bytes = observer.rewrites ? rewrittenBytes : bytesAsTheyCame();
    this.#decoder = framing.startDecoder(limits.sseRecordBytesMax, (bytes, start) => observer.skim(bytes, start));
  }

  /** Connects the upstream side, which was started with this relay as its listener. */
  connect(tap: UpstreamTap): void {
    if (this.done) return;
    this.#tap = tap;
    if (this.#phase === 'over') this.abort();
  }

  get position(): StreamPosition | undefined {
    return this.#observer.position;
  }

  facts(): AnswerFacts {
    return this.#observer.facts();
  }

  pause(): void {
    this.#tap?.pause();
  }

  resume(): void {
    this.#tap?.resume();
  }

  abort(): void {
    this.#phase = 'over';
    this.#tap?.abort();
    this.#tap = null;
    this.done = true;
  }

  /** Ends the answer for the gateway (money ran out). */
  interrupt(failure: CallFailure): void {
    if (this.#phase === 'begun') this.#parts.client.interrupt(failure);
    else this.#fail(failure);
  }

  onBacklog(bytes: number): void {
    this.#parts.client.onBacklog(bytes);
  }

  onCaughtUp(): void {
    this.#parts.client.onCaughtUp();
  }

  onHead(head: ResponseHead): void {
    this.#parts.listener.onHead(head);
    this.#mayBeStream = head.status === 200 && codingOf(head) === 'identity';
    if (this.#mayBeStream && this.#parts.framing.isStream(headerOf(head, 'content-type') ?? '')) {
      // Bytes without records are passed on within `onBody`, or copied.
      if (this.#tap !== null && this.#parts.framing === BYTES) this.#tap.freesReads = true;
      return;
    }
    this.#collector = new AnswerCollector(this.#parts.limits, this.#parts.listener);
    this.#collector.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#mayBeStream) {
      this.#mayBeStream = false;
      if (this.#parts.framing.beginsStream(span)) this.#collector = null;
    }
    if (this.#collector !== null) {
      this.#collector.onBody(span);
      return;
    }
    this.lastSpanBytes = span.length;
    this.#decoder.feed(span, this.#take);
    if (this.#phase === 'begun') this.#parts.client.flush();
  }

  onEnd(): void {
    this.#upstreamEnds();
    if (this.#collector !== null) {
      this.#collector.onEnd();
      return;
    }
    for (const output of this.#decoder.finish()) this.#takeTail(output);
    if (this.#parts.client.failing) this.#parts.client.endFailing();
    else if (this.#phase !== 'over') this.#endWithoutTerminal();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#upstreamEnds();
    if (this.#collector !== null) this.#collector.onFailure(failure);
    else if (this.#parts.client.failing) this.#parts.client.endFailing();
    else this.#fail(outcome.failureOfTransport(failure));
  }

  readonly #take = (output: FramingOutput | SkimmedRecords): void => {
    if (this.#phase === 'over') return;
    if (output.kind === 'problem') {
      const cause = output.message;
      this.#fail(
        new CallFailure('upstream_malformed', 'an event of the model provider is too large or damaged', { cause }),
      );
      return;
    }
    if (output.kind === 'skimmed') {
      if (!this.#parts.client.failing) this.#act(output, this.#observer.rewrites ? 'replace' : 'pass');
      return;
    }
    if (output.kind !== 'event') {
      this.#takeSilent(output);
      return;
    }
    const verdict = this.#observer.observe(output);
    if (!this.#parts.client.failing) this.#act(output, verdict);
    else if (verdict === 'error_rest') this.#put(this.#parts.scrub(this.#bytes.last(output, null)));
  };

  /** Keep-alives of upstream are passed on once there is content. */
  #takeSilent(record: StreamRecord): void {
    if (!this.#parts.client.failing) this.#put(this.#bytes.silent(record));
  }

  #act(record: StreamRecord | SkimmedRecords, verdict: RecordVerdict): void {
    if (this.#phase === 'opening' && this.#observer.begun && verdict !== 'error' && verdict !== 'malformed')
      this.#begin();
    if (verdict === 'pass') this.#pass(record);
    else if (verdict === 'replace') this.#put(this.#bytes.replaced(this.#observer.replacement ?? NOTHING));
    else if (record.kind !== 'skimmed') this.#actOnRecord(record, verdict);
  }

  #actOnRecord(record: StreamRecord, verdict: Exclude<RecordVerdict, 'pass' | 'replace'>): void {
    switch (verdict) {
      case 'silent':
        this.#takeSilent(record);
        return;
      case 'withhold':
        this.#put(this.#bytes.withheld(record));
        return;
      case 'terminal':
        this.#complete(this.#bytes.last(record, this.#observer.replacement));
        return;
      case 'error_rest':
      case 'error':
        this.#takeError(record);
        return;
      case 'malformed':
        this.#fail(new CallFailure('upstream_malformed', 'the model provider sent an event that is not JSON'));
    }
  }

  /** A tail without a final blank line counts if it is complete, as clients read it; else it was truncated. */
  #takeTail(output: FramingOutput): void {
    if (output.kind === 'problem' || this.#phase === 'over' || this.#parts.client.failing) return;
    const verdict = output.kind === 'event' ? this.#observer.observe(output) : 'pass';
    if (verdict === 'malformed') return;
    if (output.kind === 'event') this.#act(output, verdict);
    else this.#takeSilent(output);
    if (verdict !== 'terminal' && output.kind !== 'blank') this.#put(this.#bytes.missingBlank);
  }

  /** After the first content event upstream's record goes last, save our account's trouble. */
  #takeError(record: StreamRecord): void {
    const { type, message, status } = this.#observer.failure ?? { type: 'error', message: '', status: null };
    const words = this.#parts.scrub(Buffer.from(message)).toString('utf8');
    const failure = outcome.failureOfErrorWords(type, status, words);
    if (this.#phase === 'opening' || this.#observer.rewrites || outcome.isOperatorsFault(failure)) this.#fail(failure);
    else this.#parts.client.passError(failure, this.#parts.scrub(this.#bytes.last(record, null)));
  }

  #pass(record: StreamRecord | SkimmedRecords): void {
    if (this.#phase === 'begun') {
      this.#parts.client.outbox.putSpan(record.bytes, this.#bytes.startOf(record), record.end);
    } else this.#put(record.bytes.subarray(this.#bytes.startOf(record), record.end));
  }

  #put(bytes: Uint8Array): void {
    if (this.#phase === 'begun') this.#parts.client.outbox.put(bytes);
    else if (this.#phase === 'opening' && bytes.length > 0) this.#keepOpening(bytes);
  }

  /** Grows by doubling: upstream may send a hundred thousand comments before its first content event. */
  #keepOpening(bytes: Uint8Array): void {
    const start = this.#openingBytes;
    const end = start + bytes.length;
    if (end > this.#opening.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, start * 2, 1024));
      larger.set(this.#opening.subarray(0, start));
      this.#opening = larger;
    }
    this.#opening.set(bytes, start);
    this.#openingBytes = end;
    if (end > OPENING_BYTES_MAX) this.#begin();
  }

  #begin(): void {
    this.#phase = 'begun';
    this.#parts.listener.onBegun();
    const { client } = this.#parts;
    client.begin(this);
    if (this.#openingBytes > 0) client.outbox.put(this.#opening.subarray(0, this.#openingBytes));
    this.#opening = NOTHING;
    this.#openingBytes = 0;
  }

  /** An answer without content, finish reason and usage is no answer. */
  #complete(lastBytes: Uint8Array): void {
    if (this.#phase === 'opening') {
      if (this.#observer.facts().usage === null) {
        this.#fail(outcome.failureOfHollowAnswer());
        return;
      }
      this.#begin();
    }
    this.#phase = 'over';
    this.#parts.client.complete(lastBytes);
  }

  #endWithoutTerminal(): void {
    const missingEnd = this.#observer.endOfBytes();
    if (missingEnd === null) this.#fail(outcome.failureOfEarlyEnd());
    else this.#complete(missingEnd);
  }

  /** Before the first content event the attempt has failed; after it, the answer. */
  #fail(failure: CallFailure): void {
    const before = this.#phase;
    if (before === 'over') return;
    this.abort();
    if (before === 'opening') this.#parts.listener.onAnswerFailed(failure);
    else this.#parts.client.fail(failure);
  }

  #upstreamEnds(): void {
    this.done = true;
    this.#tap = null;
    this.#parts.client.onSourceDone();
  }
}
