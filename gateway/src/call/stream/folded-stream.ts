/**
 * Reads an upstream's stream for a client that gets one piece: records are observed and passed to the fold until the
 * stream ends, fails or is cut. The fold builds the answer.
 */

import { CallFailure } from '../../errors/call-failure.ts';
import type { Framing, FramingOutput, SkimmedRecords, StreamRecord } from '../../framing/framing.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { codingOf, headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import {
  AnswerCollector,
  type AnswerListener,
  answerLimits,
  type CollectedAnswer,
  type CollectLimits,
} from '../attempt/collect-answer.ts';
import { scrubText } from '../attempt/scrub.ts';
import * as outcome from '../attempt/upstream-outcome.ts';
import type { Held } from '../call.ts';
import type { Folding } from '../plan/upstream-call.ts';
import { MeteredBody, type MeteredReader } from './metered-body.ts';
import { openMeter } from './stream-meter.ts';

/** The whole stream, or as far as money allowed (`cut`). */
export interface FoldedStreamEnd {
  readonly kind: 'folded';
  readonly head: ResponseHead;
  readonly cut: boolean;
}

/**
 * How it ended: as a stream, complete or cut, or with a non-streamed answer (an error body, or a host that does not
 * stream).
 */
export type FoldedEnd = FoldedStreamEnd | { readonly kind: 'collected'; readonly answer: CollectedAnswer };

export interface FoldedStreamParts {
  readonly folding: Folding;
  /** Upstream's framing. */
  readonly framing: Framing;
  readonly limits: CollectLimits & { readonly sseRecordBytesMax: number; readonly slowReaderBytesMax: number };
  /** Removes secrets from upstream's messages. */
  scrub(words: string): string;
  onHead(head: ResponseHead): void;
  /** Called after each batch of records. */
  onRead(): void;
}

/** How long upstream may take to end after its last record, so that its connection can be reused. */
const LINGER_MS = 2_000;

export class FoldedStream implements MeteredReader, AnswerListener, Deadline {
  readonly #done = Promise.withResolvers<FoldedEnd>();
  readonly done = this.#done.promise;
  dueMs = 0;
  slot = UNWATCHED;
  readonly #parts: FoldedStreamParts;
  readonly #decoder;
  #tap: UpstreamTap | null = null;
  #head: ResponseHead | null = null;
  #collector: AnswerCollector | null = null;
  /** The head names no event stream; the first byte of the body shows whether it is one. */
  #mayBeStream = false;
  #anyEvent = false;
  #over = false;
  #paused = false;
  #upstreamDone = false;

  constructor(parts: FoldedStreamParts) {
    this.#parts = parts;
    this.#decoder = parts.framing.startDecoder(parts.limits.sseRecordBytesMax, null);
  }

  /** Connects the upstream side, which was started with this as its listener. */
  connect(tap: UpstreamTap): void {
    if (this.#upstreamDone) return;
    this.#tap = tap;
    if (this.#over) tap.abort();
  }

  /** Money ran out: the output so far is the answer. */
  cut(): void {
    const head = this.#head;
    if (this.#over || head === null) return;
    this.#end({ kind: 'folded', head, cut: true });
    this.#tap?.abort();
  }

  /** The client left, or the gateway must end the call. False: it had already ended. */
  interrupt(failure: CallFailure): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#done.reject(failure);
    this.#tap?.abort();
    return true;
  }

  onHead(head: ResponseHead): void {
    this.#parts.onHead(head);
    this.#head = head;
    this.#mayBeStream = head.status === 200 && codingOf(head) === 'identity';
    if (this.#mayBeStream && this.#parts.framing.isStream(headerOf(head, 'content-type') ?? '')) return;
    this.#collector = new AnswerCollector(this.#parts.limits, this);
    this.#collector.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#mayBeStream && this.#parts.framing.beginsStream(span)) this.#collector = null;
    this.#mayBeStream = false;
    if (this.#collector !== null) {
      this.#collector.onBody(span);
      return;
    }
    if (this.#over) return;
    this.#decoder.feed(span, this.#take);
    this.#parts.onRead();
  }

  onEnd(): void {
    this.#upstreamEnds();
    if (this.#collector !== null) {
      this.#collector.onEnd();
      return;
    }
    if (this.#over) return;
    // A tail without a final blank line counts if it is complete; otherwise the stream was truncated.
    for (const output of this.#decoder.finish()) if (output.kind === 'event') this.#takeEvent(output);
    if (this.#over) return;
    if (!this.#anyEvent)
      this.interrupt(new CallFailure('upstream_malformed', 'the answer of the model provider is empty'));
    else if (this.#parts.folding.observer.endOfBytes() === null) this.interrupt(outcome.failureOfEarlyEnd());
    else this.#endWhole();
  }

  onFailure(failure: UpstreamFailure): void {
    this.#upstreamEnds();
    if (this.#collector === null) this.interrupt(outcome.failureOfTransport(failure));
    else this.#collector.onFailure(failure);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    this.#end({ kind: 'collected', answer });
  }

  onAnswerFailed(failure: CallFailure): void {
    this.interrupt(failure);
  }

  onBacklog(bytes: number): void {
    if (this.#paused || bytes <= this.#parts.limits.slowReaderBytesMax) return;
    this.#paused = true;
    this.#tap?.pause();
  }

  onCaughtUp(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#tap?.resume();
  }

  onDue(): void {
    unwatchDeadline(this);
    this.#tap?.abort();
  }

  readonly #take = (output: FramingOutput | SkimmedRecords): void => {
    if (this.#over) return;
    if (output.kind === 'problem') {
      const cause = output.message;
      this.interrupt(
        new CallFailure('upstream_malformed', 'an event of the model provider is too large or damaged', { cause }),
      );
    } else if (output.kind === 'event' && !this.#takeEvent(output)) {
      this.interrupt(new CallFailure('upstream_malformed', 'the model provider sent an event that is not JSON'));
    }
  };

  /** False: not JSON. */
  #takeEvent(record: StreamRecord): boolean {
    this.#anyEvent = true;
    const { folding } = this.#parts;
    const verdict = folding.observer.observe(record);
    if (verdict === 'error') this.interrupt(this.#failureOfError());
    else if (verdict !== 'malformed') {
      folding.take(record);
      if (verdict === 'terminal') this.#endWhole();
    }
    return verdict !== 'malformed';
  }

  #failureOfError(): CallFailure {
    const { observer } = this.#parts.folding;
    const { type, message, status } = observer.failure ?? { type: 'error', message: '', status: null };
    return outcome.failureOfErrorWords(type, status, this.#parts.scrub(message));
  }

  #endWhole(): void {
    const head = this.#head;
    if (head === null) return;
    this.#end({ kind: 'folded', head, cut: false });
    if (this.#upstreamDone) return;
    this.dueMs = performance.now() + LINGER_MS;
    watchDeadline(this);
  }

  #end(end: FoldedEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#done.resolve(end);
  }

  #upstreamEnds(): void {
    this.#upstreamDone = true;
    this.#tap = null;
    if (this.slot !== UNWATCHED) unwatchDeadline(this);
  }
}

/** A folded stream that is not yet connected to an upstream, and its listener. */
interface OpenFold {
  readonly stream: FoldedStream;
  readonly listener: ExchangeListener;
}

interface FoldWatcher {
  onHead(head: ResponseHead): void;
  /** Called at its first content, before its end. */
  onContent(): void;
}

/** Connects a folded stream in upstream's format to its call: meter, limits. */
export function openFold(
  call: Held,
  { name }: Pick<UpstreamProtocol, 'name'>,
  folding: Folding,
  { onHead, onContent }: FoldWatcher,
): OpenFold {
  let hasContent = false;
  const { target } = call;
  const meter = openMeter(call, folding.observer, {
    onGranted: () => metered?.goOn(),
    onRefused(failure) {
      call.failure = failure;
      // If money ran out, the output so far is the answer; if the store is unavailable, no account can be charged for it.
      if (failure.kind === 'quota_exceeded') stream.cut();
      else stream.interrupt(failure);
      metered?.drop();
    },
  });
  const { upstream } = target;
  const { secrets } = upstream;
  const framing = upstream.framing(name, 'stream');
  const stream = new FoldedStream({
    folding,
    framing,
    limits: answerLimits(call),
    scrub: (words) => scrubText(words, secrets),
    onHead,
    onRead() {
      if (!hasContent && folding.observer.begun) {
        hasContent = true;
        onContent();
      }
      meter?.covers();
    },
  });
  const metered = meter === null ? null : new MeteredBody(stream, meter, framing);
  return { stream, listener: metered ?? stream };
}
