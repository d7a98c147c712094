/**
 * Runs one attempt of a call: sends its request, reads what comes back in the way the call needs it, and tells the loop
 * of its answer, its first content or its failure. Decides nothing.
 */
import type { CallFailure } from '../../errors/call-failure.ts';
import { traceHeaders } from '../../lib/trace-context.ts';
import { asName } from '../../protocols/json.ts';
import type { Operation } from '../../providers/provider.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import type { AttemptRow, Held, Routed } from '../call.ts';
import { listenForContent } from '../content/content-draft.ts';
import type { Folding, UpstreamCall } from '../plan/upstream-call.ts';
import { type FoldedStream, type FoldedStreamEnd, openFold } from '../stream/folded-stream.ts';
import type { CallStream } from '../stream/open-relay.ts';
import type { RelayListener, StreamRelay } from '../stream/stream-relay.ts';
import { AnswerCollector, answerLimits, type CollectedAnswer } from './collect-answer.ts';
import { brokenStream, type NotAnswered, notAnswered, type ReadAnswer, readCollected } from './read-answer.ts';
import { failureOfSending } from './upstream-outcome.ts';

/** Gets what becomes of an attempt: one of the last four, unless it is aborted before. */
export interface AttemptListener {
  /** The client's side of a streamed call, the same for all its attempts. */
  openStream(): CallStream;
  /** The client has the status of a stream. */
  readonly isCommitted: boolean;
  onHead(attempt: RunningAttempt, head: ResponseHead): void;
  /** An answer in one piece, or an error body. */
  onAnswer(attempt: RunningAttempt, answer: CollectedAnswer): void;
  /** A stream for a client that gets one piece has content. */
  onContent(attempt: RunningAttempt): void;
  /** A stream for a client that gets one piece has ended. */
  onFolded(attempt: RunningAttempt, folding: Folding, end: FoldedStreamEnd): void;
  onFailed(attempt: RunningAttempt, failure: CallFailure): void;
  /** A stream for the client has content. Its end is told to the client's side. */
  onBegun(attempt: RunningAttempt): void;
}

export class RunningAttempt implements RelayListener {
  /** The request in the form that was sent. */
  readonly plan: UpstreamCall;
  readonly row: AttemptRow;
  readonly #call: Held;
  readonly #loop: AttemptListener;
  #isAborted = false;
  #contentType: string | null = null;
  #tap: UpstreamTap | null = null;
  #relay: StreamRelay | null = null;
  #fold: FoldedStream | null = null;
  #observer: Folding['observer'] | null = null;
  /** The last that was told. */
  #head: ResponseHead | null = null;

  constructor(call: Held, plan: UpstreamCall, row: AttemptRow, loop: AttemptListener) {
    this.#call = call;
    this.plan = plan;
    this.row = row;
    this.#loop = loop;
  }

  /** Sends the request to the call's target. */
  start(place: SendingPlace): void {
    try {
      const { startFolding } = this.plan;
      if (startFolding !== null) this.#startFold(startFolding(), place);
      else if (this.#call.facts.stream || this.#call.facts.binary !== undefined) this.#startStream(place);
      else this.#send('plain', place, new AnswerCollector(answerLimits(this.#call), this));
    } catch (error) {
      this.onAnswerFailed(failureOfSending(error));
    }
  }

  /** No byte of an answer has come. */
  get isSilent(): boolean {
    return (this.row.marks?.headAtMs ?? 0) === 0;
  }

  /** A folded stream had content before it broke. */
  get isCut(): boolean {
    return this.#fold !== null && this.#observer?.begun === true;
  }

  /** The attempt with the failure that ended it. */
  broken(failure: CallFailure): NotAnswered {
    return this.#observer === null ? notAnswered(failure, null) : brokenStream(failure, this.#observer);
  }

  /** Reads a complete answer of any status. Throws CallFailure where it cannot be read. */
  read(answer: CollectedAnswer): ReadAnswer | Promise<ReadAnswer> {
    this.row.note(answer.head.status, null);
    return readCollected(this.#call, answer, this.plan, this.#loop.isCommitted);
  }

  /** Ends the attempt at its upstream; its listener hears nothing more. */
  abort(failure: CallFailure): void {
    this.#isAborted = true;
    this.#relay?.abort();
    this.#fold?.interrupt(failure);
    this.#tap?.abort();
    this.#tap = null;
  }

  /** An answer in one piece has its head with it, which may have been told when it came. */
  onHead(head: ResponseHead): void {
    if (head === this.#head) return;
    this.#head = head;
    this.row.upstreamRequestId = asName(
      headerOf(head, 'x-request-id') ?? headerOf(head, 'request-id') ?? headerOf(head, 'x-amzn-requestid'),
    );
    if (this.#call.facts.binary !== undefined) this.#contentType = headerOf(head, 'content-type');
    this.#noteDropped();
    if (!this.#isAborted) this.#loop.onHead(this, head);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    if (this.#isAborted) return;
    this.onHead(answer.head);
    this.#loop.onAnswer(this, answer);
  }

  onAnswerFailed(failure: CallFailure): void {
    if (!this.#isAborted) this.#loop.onFailed(this, failure);
  }

  onBegun(): void {
    this.#call.answerType = this.#contentType;
    this.#loop.onBegun(this);
  }

  #startStream(place: SendingPlace): void {
    const { plan, row } = this;
    const observer = plan.startObserver();
    const { relay, listener } = this.#loop.openStream().openRelay({ upstream: plan.protocol, observer, row }, this);
    this.#observer = observer;
    this.#relay = relay;
    relay.connect(this.#send('stream', place, row.listen(listener, observer)));
  }

  #startFold(folding: Folding, place: SendingPlace): void {
    const { row } = this;
    const { stream, listener } = openFold(this.#call, this.plan.protocol, folding, {
      onHead: (head) => this.onHead(head),
      onContent: () => this.#loop.onContent(this),
    });
    this.#observer = folding.observer;
    this.#fold = stream;
    stream.done.then(
      (end) => {
        if (this.#isAborted) return;
        this.#noteDropped();
        if (end.kind === 'collected') this.onAnswer(end.answer);
        else this.#loop.onFolded(this, folding, end);
      },
      (failure: CallFailure) => this.onAnswerFailed(failure),
    );
    stream.connect(this.#send('stream', place, row.listen(listener, folding.observer)));
  }

  /** Names what the provider does not get of the request's headers. */
  #noteDropped(): void {
    const dropped = this.row.marks?.dropped;
    if (dropped !== undefined && dropped.length > 0) this.#call.dropped = [...this.plan.dropped, ...dropped];
  }

  #send(operation: 'plain' | 'stream', place: SendingPlace, reader: ExchangeListener) {
    const tap = sendRequest(this.#call, this.plan, this.row, operation, place, reader);
    // An upstream inside the gateway may have answered already, and the attempt be over.
    if (!this.#isAborted) this.#tap = tap;
    return tap;
  }
}

/** Where and until when an attempt runs, at the call's target. */
export interface SendingPlace {
  readonly plan: Pick<AttemptPlan, 'credential' | 'isFresh'>;
  readonly laterEndMs: number | null;
}

/** The running exchange, whose marks the row gets. Throws if the target has no endpoint for the operation. */
export function sendRequest(
  call: Routed,
  plan: UpstreamCall,
  row: AttemptRow,
  operation: Operation,
  { plan: { credential, isFresh }, laterEndMs }: SendingPlace,
  reader: ExchangeListener,
): UpstreamTap {
  const { protocol, body, form } = plan;
  const listener = call.content === null ? reader : listenForContent(call.content, plan, reader);
  const own = plan.translation === null ? protocol.passThrough : null;
  if (protocol.name !== call.protocol.name) row.format = protocol.name;
  const headers = own === null ? protocol.headers : own.forwardHeaders(call.request.headers, call.version);
  const exchange = call.target.upstream.openExchange(
    {
      protocol: protocol.name,
      operation,
      below: plan.below,
      headers: call.trace === null ? headers : [...headers, ...traceHeaders(call.trace, row.spanId)],
      body,
      form,
      answers: call.facts.answers,
      passes: own !== null,
      requestId: call.requestId,
      atMs: call.atMs,
      strict: call.principal.strict,
      endMs: laterEndMs,
      fresh: isFresh,
    },
    credential,
    answerLimits(call).responseBytesMax,
    listener,
  );
  row.marks = exchange;
  return exchange;
}
