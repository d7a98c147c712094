/** Connects a streamed call to its client and its attempts: settlement, scrubbing, logging, money. */

import type { CallFailure } from '../../errors/call-failure.ts';
import { BYTES } from '../../framing/bytes.ts';
import type { Framing } from '../../framing/framing.ts';
import type { StreamObserver, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { DetachedCall } from '../../store/ports/ledger.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { codingOf, headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import {
  AnswerCollector,
  type AnswerListener,
  answerLimits,
  type CollectedAnswer,
  type CollectLimits,
  isText,
} from '../attempt/collect-answer.ts';
import { scrub } from '../attempt/scrub.ts';
import { isOperatorsFault } from '../attempt/upstream-outcome.ts';
import { type AttemptRow, type Held, releaseCall } from '../call.ts';
import { withAgentStatus } from '../deliver/agent-stops.ts';
import { alarm } from '../deliver/refuse.ts';
import { streamHeaders } from '../deliver/reply.ts';
import { detachCall, leaveCall } from '../detached/detach-call.ts';
import { openStreamGuard } from '../guard/guard-stream.ts';
import { endStreamedRun } from '../idempotency/end-run.ts';
import { type Outcome, settle } from '../money/settle.ts';
import { buildReason } from '../reason/build-reason.ts';
import { withHint } from '../reason/caller-hint.ts';
import { ClientStream } from './client-stream.ts';
import { GuardedOutbox } from './guarded-outbox.ts';
import { MeteredBody } from './metered-body.ts';
import { Outbox } from './outbox.ts';
import { openMeter, type StreamMeter } from './stream-meter.ts';
import { type RelayListener, StreamRelay } from './stream-relay.ts';

/** The latest attempt of a streamed call. */
export interface StreamedAttempt {
  /** Upstream's protocol. */
  readonly upstream: UpstreamProtocol;
  readonly observer: StreamObserver;
  /**
   * The attempt's row. The stream fills it in, because a short stream may end before the code that awaits its start
   * runs.
   */
  readonly row: Pick<AttemptRow, 'note' | 'end'>;
}

/** What the client's side of a stream tells the attempts of its call. */
export interface StreamedCall {
  /** The status is 200 from now on. */
  onCommitted(): void;
  /** The client left before any attempt had content. */
  onGivenUp(failure: CallFailure): void;
  /** Nothing of the stream is left. */
  onClosed(): void;
}

const NO_BYTES = new Uint8Array(0);

/** The client's side of one call, and its attempt. */
export class CallStream {
  readonly client: ClientStream;
  readonly #call: Held;
  #attempt: StreamedAttempt | null = null;
  #meter: StreamMeter | null = null;
  /** The attempt before, which may run beside the present one; null: there was none. */
  #before: { readonly attempt: StreamedAttempt; readonly meter: StreamMeter | null } | null = null;

  constructor(call: Held, calls: StreamedCall) {
    const { protocol, run, content, caching } = call;
    this.#call = call;
    this.client = new ClientStream({
      protocol,
      requestId: call.requestId,
      model: call.facts.model,
      limits: call.settings.config.limits,
      hasRecords: call.facts.binary === undefined,
      openOutbox: (listener) => {
        const onPut = (bytes: Uint8Array) => {
          run?.gather(bytes);
          caching?.gather(bytes);
          content?.answered(bytes, true);
        };
        const mayGoOut = () => this.#meter?.covers() ?? true;
        const openGuard = openStreamGuard(call);
        if (openGuard === null) return new Outbox(listener, onPut, mayGoOut);
        return new GuardedOutbox([listener, onPut, mayGoOut], openGuard, (failure) => this.client.fail(failure));
      },
      settle: (outcome, last) => {
        const { row, observer, upstream } = this.#attempt ?? {};
        row?.note(outcome.failure === null ? 200 : null, outcome.failure);
        row?.end(outcome.failure, outcome.facts?.outputBytes ?? 0);
        if (upstream !== undefined && observer !== undefined) countViolations(call, upstream, observer);
        const told = outcome.facts === null ? { ...outcome, facts: call.undelivered } : outcome;
        const settled = call.detached === null ? settle(call, told) : endDetached(call, call.detached, told, observer);
        // Before the last bytes are put into the outbox, which would collect them twice.
        if (caching !== null) {
          settled.then(
            () => caching.keep(told, last ?? NO_BYTES, streamHeaders(call)),
            () => caching.drop(),
          );
        }
        const kept = run === null ? settled : endStreamedRun(call, run, told, settled, last);
        // The last bytes go out after this.
        return kept.finally(() => call.origin.replyReady());
      },
      goesOn: () => call.left,
      onFailure: (failure) => noteFailure(call, failure),
      tell: (failure) => withHint(call, failure, buildReason(call, failure.kind, this.client.begun)),
      onCommitted: () => calls.onCommitted(),
      onGivenUp: (failure) => calls.onGivenUp(failure),
      onClosed() {
        calls.onClosed();
        releaseCall(call);
      },
    });
  }

  /** Goes on with the attempt of this row, where two run beside each other. */
  choose(row: StreamedAttempt['row']): void {
    if (this.#before?.attempt.row !== row) return;
    this.#attempt = this.#before.attempt;
    this.#meter = this.#before.meter;
  }

  /** Starts the relay of the next attempt, not yet connected to an upstream, and its listener for the upstream side. */
  openRelay(
    attempt: StreamedAttempt,
    relayListener: RelayListener,
  ): { readonly relay: StreamRelay; readonly listener: ExchangeListener } {
    const call = this.#call;
    const { client } = this;
    const limits = answerLimits(call);
    const { observer, upstream } = attempt;
    const { secrets } = call.target.upstream;
    const framing = call.facts.binary === undefined ? call.target.upstream.framing(upstream.name, 'stream') : BYTES;
    const meter = openMeter(call, observer, {
      onGranted() {
        client.outbox.release();
        metered?.goOn();
      },
      onRefused(failure) {
        relay.interrupt(withAgentStatus(call, failure));
        metered?.drop();
      },
    });
    if (this.#attempt !== null) this.#before = { attempt: this.#attempt, meter: this.#meter };
    this.#attempt = attempt;
    this.#meter = meter;
    const relay = new StreamRelay({
      observer,
      framing,
      limits,
      client,
      listener: call.facts.background === undefined ? relayListener : detachAtStart(call, observer, relayListener),
      scrub: (bytes) => scrub(bytes, secrets),
    });
    const metered = meter === null ? null : new MeteredBody(relay, meter, framing);
    const streamOf = (answer: CollectedAnswer) =>
      upstream.streamOfAnswer(answer.body, call.facts, isText(call.facts, answer));
    return { relay, listener: new OnePieceAnswer(metered ?? relay, streamOf, framing, limits) };
  }
}

/** Detaches the hold of a response in the background as soon as the stream has told its id. */
function detachAtStart(call: Held, observer: StreamObserver, listener: RelayListener): RelayListener {
  return {
    onHead: (head) => listener.onHead(head),
    onBegun() {
      listener.onBegun();
      const { id } = observer.position ?? {};
      if (id === undefined) return;
      call.detached = detachCall(call, id).catch((cause: unknown) => {
        call.deps.log.fault(call.requestId, 'a response in the background could not be detached', cause);
        return null;
      });
    },
    onEnough: () => listener.onEnough(),
    onAnswer: (answer) => listener.onAnswer(answer),
    onAnswerFailed: (failure) => listener.onAnswerFailed(failure),
  };
}

/** Settles a response in the background whose stream came to its end; another one goes on without its client. */
async function endDetached(
  call: Held,
  detached: Promise<DetachedCall | null>,
  outcome: Outcome,
  observer: StreamObserver | undefined,
): Promise<void> {
  const left = await detached;
  const isOver = outcome.facts?.finish_reason != null || observer?.failure != null;
  if (left === null) return settle(call, outcome);
  if (!isOver) return leaveCall(call, left);
  try {
    await settle(call, outcome);
  } catch (cause) {
    // Its hold is still open: it is settled once the store takes it.
    call.deps.detached.follow(left);
    throw cause;
  }
}

/** Notes and logs why a stream that had begun failed. */
function noteFailure(call: Held, failure: CallFailure): void {
  const { kind, message, details } = failure;
  call.failure = failure;
  const words = typeof details.cause === 'string' ? `${message} (${details.cause})` : message;
  if (isOperatorsFault(failure)) alarm(call, failure);
  if (kind === 'gateway_fault') call.deps.log.fault(call.requestId, message, details.cause);
  else call.deps.log.upstream(call.requestId, call.target.upstream.provider, `${kind}: ${words}`);
}

/**
 * A rewriting observer withholds violations of the client's format; a passing one forwards upstream's bytes, so
 * violations of upstream's format are only counted. `upstream`: upstream's format.
 */
export function countViolations(
  { deps, protocol }: Held,
  upstream: Pick<UpstreamProtocol, 'name'>,
  { rewrites, protocolViolations }: Pick<StreamObserver, 'rewrites' | 'protocolViolations'>,
): void {
  const { received, withheld } = deps.protocolViolations;
  if (rewrites) withheld[protocol.name] += protocolViolations;
  else received[upstream.name] += protocolViolations;
}

/**
 * Converts a non-streamed answer into a stream for a client that asked for one: some hosts do not stream, or not with
 * every option. Passes everything else through unchanged.
 */
class OnePieceAnswer implements ExchangeListener, AnswerListener {
  readonly #next: ExchangeListener;
  readonly #streamOf: (answer: CollectedAnswer) => Buffer | null;
  readonly #framing: Framing;
  readonly #limits: CollectLimits;
  /** The head of an answer without an event stream's content type, until its form is known. */
  #head: ResponseHead | null = null;
  #spans: Uint8Array[] = [];

  /** `streamOf`: an answer as the records of a stream. `framing`: upstream's. */
  constructor(
    next: ExchangeListener,
    streamOf: (answer: CollectedAnswer) => Buffer | null,
    framing: Framing,
    limits: CollectLimits,
  ) {
    this.#next = next;
    this.#streamOf = streamOf;
    this.#framing = framing;
    this.#limits = limits;
  }

  onHead(head: ResponseHead): void {
    if (head.status === 200 && !this.#framing.isStream(headerOf(head, 'content-type') ?? '')) this.#head = head;
    else this.#next.onHead(head);
  }

  onBody(span: Uint8Array): void {
    const head = this.#head;
    if (head === null) {
      this.#next.onBody(span);
      return;
    }
    const isStream = this.#spans.length === 0 && this.#framing.beginsStream(span) && codingOf(head) === 'identity';
    this.#spans.push(span);
    if (isStream) this.#release(head);
  }

  onEnd(): void {
    const head = this.#head;
    if (head === null) {
      this.#next.onEnd();
      return;
    }
    const collector = new AnswerCollector(this.#limits, this);
    collector.onHead(head);
    for (const span of this.#spans) collector.onBody(span);
    collector.onEnd();
  }

  onEnough(): void {}

  onAnswer(answer: CollectedAnswer): void {
    this.#finish(answer.head, this.#streamOf(answer));
  }

  onAnswerFailed(): void {
    if (this.#head !== null) this.#finish(this.#head, null);
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#head !== null) this.#release(this.#head);
    this.#next.onFailure(failure);
  }

  /** `records` null: not a valid answer; the next listener handles it. */
  #finish(head: ResponseHead, records: Buffer | null): void {
    if (records === null) this.#release(head);
    else {
      this.#next.onHead({ ...head, headers: [['content-type', 'text/event-stream']] });
      this.#next.onBody(records);
    }
    this.#next.onEnd();
  }

  #release(head: ResponseHead): void {
    this.#head = null;
    this.#next.onHead(head);
    for (const span of this.#spans) this.#next.onBody(span);
    this.#spans = [];
  }
}
