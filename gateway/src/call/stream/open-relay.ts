/** Connects a stream's relay to its call: settlement, scrubbing, logging, the registry of open streams. */

import type { CallFailure } from '../../errors/call-failure.ts';
import type { Framing } from '../../framing/framing.ts';
import type { StreamObserver, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import { headerOf, type ResponseHead, type UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import {
  AnswerCollector,
  type AnswerListener,
  type CollectedAnswer,
  type CollectLimits,
  undeliveredAnswer,
} from '../attempt/collect-answer.ts';
import { scrub, scrubText } from '../attempt/scrub.ts';
import { failureOfLateAnswer, isOperatorsFault } from '../attempt/upstream-outcome.ts';
import { type AttemptRow, type Held, releaseCall } from '../call.ts';
import { alarm } from '../deliver/refuse.ts';
import { endStreamedRun } from '../idempotency/idempotency.ts';
import { type Outcome, settle } from '../money/settle.ts';
import { MeteredBody } from './metered-body.ts';
import { Outbox } from './outbox.ts';
import { openMeter } from './stream-meter.ts';
import { StreamRelay } from './stream-relay.ts';

/** The inputs of one attempt's relay. */
export interface RelayPlan {
  /** Upstream's protocol. */
  readonly upstream: UpstreamProtocol;
  readonly observer: StreamObserver;
  /**
   * The attempt's row. The relay fills it in, because a short stream may end before the code that awaits its start
   * runs.
   */
  readonly row: Pick<AttemptRow, 'note' | 'end'>;
}

/** A relay, and the listener to pass to the upstream side. */
export interface OpenRelay {
  readonly relay: StreamRelay;
  readonly listener: ExchangeListener;
}

/** Creates a relay for the call, not yet connected to an upstream. */
export function openRelay(call: Held, plan: RelayPlan): OpenRelay {
  const { observer, row } = plan;
  const { protocol, deps, run, content } = call;
  const { limits } = call.settings.config;
  const { upstream } = call.target;
  const framing = upstream.framing(plan.upstream.name, 'stream');
  const { secrets } = upstream;
  let outbox: Outbox | null = null;
  const meter = openMeter(call, observer, {
    onGranted() {
      outbox?.release();
      metered?.goOn();
    },
    onRefused(failure) {
      relay.interrupt(failure);
      metered?.drop();
    },
  });
  /** A non-streamed answer that came after the client was promised a stream. */
  let late: CollectedAnswer | null = null;
  async function settleLate(answer: CollectedAnswer, outcome: Outcome) {
    call.undelivered = await undeliveredAnswer(answer, plan.upstream);
    return settle(call, { ...outcome, facts: call.undelivered ?? outcome.facts });
  }
  const relay = new StreamRelay({
    protocol,
    observer,
    framing,
    requestId: call.requestId,
    onStarted: () => row.note(200, null),
    limits,
    openOutbox(listener) {
      outbox = new Outbox(
        listener,
        (bytes) => {
          run?.gather(bytes);
          content?.answered(bytes, true);
        },
        () => meter?.covers() ?? true,
      );
      return outbox;
    },
    settle(outcome, last) {
      row.note(outcome.failure === null ? 200 : null, outcome.failure);
      row.end(outcome.failure, outcome.facts?.outputBytes ?? 0);
      countViolations(call, plan.upstream, observer);
      const settled = late === null ? settle(call, outcome) : settleLate(late, outcome);
      const kept = run === null ? settled : endStreamedRun(call, run, outcome, settled, last);
      // The last bytes go out after this.
      return kept.finally(() => call.origin.replyReady());
    },
    scrub: (bytes) => scrub(bytes, secrets),
    failureOfLate(answer) {
      late = answer;
      const { head, body } = answer;
      const error = plan.upstream.readError(body);
      return failureOfLateAnswer(head, error, scrubText(error.message, secrets));
    },
    onFirstByte() {
      call.firstByteMs = performance.now();
    },
    onFailure(failure: CallFailure) {
      const { kind, message, details } = failure;
      call.failure = failure;
      const words = typeof details.cause === 'string' ? `${message} (${details.cause})` : message;
      if (isOperatorsFault(failure)) alarm(call, failure);
      if (kind === 'gateway_fault') deps.log.fault(call.requestId, message, details.cause);
      else deps.log.upstream(call.requestId, upstream.provider, `${kind}: ${words}`);
    },
    onClosed() {
      deps.openCalls.remove(handle);
      releaseCall(call);
    },
  });
  const metered = meter === null ? null : new MeteredBody(relay, meter, framing);
  const handle = deps.openCalls.add(relay);
  // A relay that never became a stream never closes.
  relay.started.then(
    ({ kind }) => kind === 'collected' && deps.openCalls.remove(handle),
    () => deps.openCalls.remove(handle),
  );
  return { relay, listener: new OnePieceAnswer(metered ?? relay, plan.upstream, framing, limits) };
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
  readonly #upstream: UpstreamProtocol;
  readonly #framing: Framing;
  readonly #limits: CollectLimits;
  /** The head of an answer without an event stream's content type, until its form is known. */
  #head: ResponseHead | null = null;
  #spans: Uint8Array[] = [];

  /** `upstream` and `framing`: upstream's format and framing. */
  constructor(next: ExchangeListener, upstream: UpstreamProtocol, framing: Framing, limits: CollectLimits) {
    this.#next = next;
    this.#upstream = upstream;
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
    const isStream =
      this.#spans.length === 0 && this.#framing.beginsStream(span) && headerOf(head, 'content-encoding') === null;
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

  onAnswer({ head, body }: CollectedAnswer): void {
    this.#finish(head, this.#upstream.streamOfAnswer(body));
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
