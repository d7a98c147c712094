/**
 * Makes the attempts of a call as a state machine: the request goes to the target, callbacks judge the outcome, and the
 * request goes out again in another form until an answer begins or no form is left. Notes each attempt in the record.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Handle } from '../../lib/open-set.ts';
import { traceHeaders } from '../../lib/trace-context.ts';
import type { ResponseHead } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { AttemptRow, type Held, type Routed, setTarget } from '../call.ts';
import { listenForContent } from '../content/content-draft.ts';
import type { Interruptible } from '../deps.ts';
import { mostOutputTokens, sentLimit } from '../money/limit-proofs.ts';
import { planCall } from '../plan/plan-call.ts';
import { type Folding, type NextAttempt, refusesStream, type UpstreamCall } from '../plan/upstream-call.ts';
import { type FoldedStream, openFold } from '../stream/folded-stream.ts';
import { openRelay } from '../stream/open-relay.ts';
import type { StreamRelay } from '../stream/stream-relay.ts';
import { AnswerCollector, type AnswerListener, type CollectedAnswer, undeliveredStream } from './collect-answer.ts';

/** How the last attempt began: with a running stream, or with a complete answer of any status to `plan`. */
export type AttemptOutcome =
  | { readonly kind: 'stream'; readonly relay: StreamRelay }
  | {
      readonly kind: 'folded';
      readonly folding: Folding;
      readonly head: ResponseHead;
      readonly cut: boolean;
      readonly plan: UpstreamCall;
    }
  | { readonly kind: 'collected'; readonly answer: CollectedAnswer; readonly plan: UpstreamCall };

type CollectedOutcome = Extract<AttemptOutcome, { kind: 'collected' }>;
type StreamedOutcome = Exclude<AttemptOutcome, CollectedOutcome>;

/** Upstream may refuse two optional features of a call, each once. */
const ATTEMPTS_MAX = 3;

/**
 * Sends the call upstream, first as planned, and resolves with the beginning of the answer. Rejects with CallFailure;
 * `call.attempts` holds the attempts.
 */
export function attempt(call: Held, plan: UpstreamCall): Promise<AttemptOutcome> {
  return new AnswerAttempts(call, plan).run();
}

/** Like `attempt`, for a token count at the host's own counter. */
export async function attemptCount(call: Routed, plan: UpstreamCall): Promise<CollectedAnswer> {
  const { answer } = await new Attempts(call, plan, true).run();
  return answer;
}

/** The attempts of one call. Each answer is collected whole, unless a subclass begins with one of another outcome. */
class Attempts<Streamed extends StreamedOutcome = never> implements AnswerListener, Interruptible, EventListenerObject {
  protected readonly call: Routed;
  protected plan: UpstreamCall;
  protected row: AttemptRow;
  readonly #isCount: boolean;
  #resolve!: (outcome: CollectedOutcome | Streamed) => void;
  #reject!: (reason: unknown) => void;
  #made = 0;
  #tap: UpstreamTap | null = null;
  #waiting: Handle<Interruptible> | null = null;
  /** The member that upstream did not know in the attempt before. */
  #unknownMember: string | undefined;

  constructor(call: Routed, plan: UpstreamCall, isCount: boolean) {
    this.call = call;
    this.plan = plan;
    this.#isCount = isCount;
    this.row = new AttemptRow(call);
  }

  run(): Promise<CollectedOutcome | Streamed> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.call.request.signal.addEventListener('abort', this);
      this.#start();
    });
  }

  #start(): void {
    const { call } = this;
    if (call.request.signal.aborted) {
      this.#reject(new CallFailure('client_left', 'the client left before its call was sent'));
      return;
    }
    call.attempted = true;
    this.#made += 1;
    try {
      this.begin();
    } catch (error) {
      this.abandon(failureOf(error));
    }
  }

  /** Sends the request and connects the reader of the answer, which calls `judge` or `fail` once. */
  protected begin(): void {
    this.#waiting = this.call.deps.openCalls.add(this);
    this.#tap = this.send(new AnswerCollector(this.call.settings.config.limits, this));
  }

  /** The client left. */
  handleEvent(): void {
    this.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  }

  interrupt(failure: CallFailure): void {
    if (this.#waiting === null) return;
    this.#tap?.abort();
    this.onAnswerFailed(failure);
  }

  /** Ends an attempt that could not be sent. */
  protected abandon(failure: CallFailure): void {
    this.#stopWaiting();
    this.fail(failure);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    if (!this.#stopWaiting()) return;
    this.call.firstByteMs = performance.now();
    this.judge({ kind: 'collected', answer, plan: this.plan });
  }

  onAnswerFailed(failure: CallFailure): void {
    if (this.#stopWaiting()) this.fail(failure);
  }

  /** False: the attempt is over already. */
  #stopWaiting(): boolean {
    const waiting = this.#waiting;
    if (waiting === null) return false;
    this.#waiting = null;
    this.call.deps.openCalls.remove(waiting);
    return true;
  }

  /** Ends the loop with an answer that began, or goes on after a refusal. */
  protected judge(outcome: CollectedOutcome | Streamed): void {
    try {
      const refusal = refusalIn(outcome);
      this.noteOutcome(outcome);
      if (this.#unknownMember !== undefined && refusal === null) rememberUnknown(this.call, this.#unknownMember);
      const next = refusal === null || this.#made === ATTEMPTS_MAX ? null : this.nextAfter(refusal);
      if (next instanceof Promise) {
        next.then(
          (late) => this.#conclude(outcome, late),
          (failure: unknown) => this.#reject(failure),
        );
      } else this.#conclude(outcome, next);
    } catch (fault) {
      this.#reject(fault);
    }
  }

  #conclude(outcome: CollectedOutcome | Streamed, next: NextAttempt | null): void {
    if (outcome.kind === 'collected') {
      this.row.note(outcome.answer.head.status, next === null ? null : 'upstream_rejected');
    }
    if (next === null) this.#resolve(outcome);
    else this.#again(next);
  }

  /**
   * Starts the next attempt. There is one target, perhaps adapted by what the refusal showed. A
   * fallback would choose another target here, plan the call for it, and extend the hold if it is dearer.
   */
  #again({ call: plan, why, learned, unknownMember }: NextAttempt): void {
    const { call } = this;
    call.deps.log.upstream(call.requestId, call.target.upstream.provider, why);
    if (learned !== undefined) setTarget(call, { ...call.target, ...learned });
    call.dropped = plan.dropped;
    this.plan = plan;
    this.#unknownMember = unknownMember;
    this.row = new AttemptRow(call);
    this.#start();
  }

  /** Ends the loop without an answer. */
  protected fail(error: unknown): void {
    const { call } = this;
    const failure = failureOf(error);
    this.row.note(null, failure.kind);
    if (failure.details.cause !== undefined) {
      call.deps.log.upstream(call.requestId, call.target.upstream.provider, String(failure.details.cause));
    }
    this.#reject(failure);
  }

  /** Another form of the request after a refusal; null: the refusal is final. */
  protected nextAfter(refusal: CollectedAnswer): NextAttempt | null | Promise<NextAttempt | null> {
    return this.plan.nextAttemptAfter(refusal);
  }

  protected noteOutcome(_outcome: AttemptOutcome): void {}

  protected send(reader: ExchangeListener): UpstreamTap {
    const { call, plan } = this;
    const { protocol, body } = plan;
    const listener = call.content === null ? reader : listenForContent(call.content, plan, reader);
    const isStream = call.facts.stream || plan.startFolding !== null;
    const own = plan.translation === null ? protocol.passThrough : null;
    const headers = own === null ? protocol.headers : own.forwardHeaders(call.request.headers, call.version);
    const exchange = call.target.upstream.openExchange(
      {
        protocol: protocol.name,
        operation: this.#isCount ? 'count_tokens' : isStream ? 'stream' : 'plain',
        headers: call.trace === null ? headers : [...headers, ...traceHeaders(call.trace, this.row.spanId)],
        body,
        answers: call.facts.answers,
        requestId: call.requestId,
        atMs: call.atMs,
      },
      0,
      call.settings.config.limits.responseBytesMax,
      listener,
    );
    this.row.marks = exchange;
    return exchange;
  }
}

/** The attempts of a call that gets an answer: streamed, folded or in one piece. */
class AnswerAttempts extends Attempts<StreamedOutcome> {
  readonly #held: Held;
  /** The stream of the current attempt, which outlives the loop once it has begun. */
  #relay: StreamRelay | null = null;
  #fold: FoldedStream | null = null;

  constructor(call: Held, plan: UpstreamCall) {
    super(call, plan, false);
    this.#held = call;
  }

  protected override begin(): void {
    const { startFolding } = this.plan;
    this.#relay = null;
    this.#fold = null;
    if (startFolding !== null) this.#beginFold(startFolding());
    else if (this.call.facts.stream) this.#beginStream();
    else super.begin();
  }

  override handleEvent(): void {
    if (this.#relay !== null) this.#relay.leave();
    else if (this.#fold !== null) {
      this.#fold.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
    } else super.handleEvent();
  }

  protected override abandon(failure: CallFailure): void {
    if (this.#relay !== null) this.#relay.interrupt(failure);
    else if (this.#fold !== null) this.#fold.interrupt(failure);
    else super.abandon(failure);
  }

  #beginStream(): void {
    const { plan, row } = this;
    const call = this.#held;
    const observer = plan.startObserver();
    const { relay, listener } = openRelay(call, { upstream: plan.protocol, observer, row });
    this.#relay = relay;
    relay.started.then(
      (start) => this.judge(start.kind === 'stream' ? { kind: 'stream', relay } : { ...start, plan }),
      (failure: unknown) => {
        call.undelivered = undeliveredStream(observer);
        this.fail(failure);
      },
    );
    relay.connect(this.send(row.listen(listener, observer)));
  }

  #beginFold(folding: Folding): void {
    const { plan, row } = this;
    const call = this.#held;
    const { openCalls } = call.deps;
    const { stream, listener } = openFold(call, folding);
    this.#fold = stream;
    const handle = openCalls.add(stream);
    stream.done.then(
      (end) => {
        openCalls.remove(handle);
        if (end.kind === 'folded') row.note(200, null);
        this.judge(end.kind === 'collected' ? { ...end, plan } : { ...end, plan, folding });
      },
      (failure: unknown) => {
        openCalls.remove(handle);
        call.undelivered = undeliveredStream(folding.observer);
        this.fail(failure);
      },
    );
    stream.connect(this.send(row.listen(listener, folding.observer)));
  }

  /** Notes whether the target streams, as this attempt shows. */
  protected override noteOutcome(outcome: AttemptOutcome): void {
    const { limitProofs } = this.call.deps.billing;
    const { upstream } = this.call.target;
    if (outcome.kind !== 'collected') limitProofs.noteStreaming(upstream, null);
    else if (this.plan.startFolding === null) return;
    else if (outcome.answer.head.status === 200) limitProofs.noteStreaming(upstream, 'ignores');
    else if (refusesStream(outcome.answer)) limitProofs.noteStreaming(upstream, 'refuses');
  }

  protected override nextAfter(refusal: CollectedAnswer): NextAttempt | null | Promise<NextAttempt | null> {
    const next = super.nextAfter(refusal);
    return next === null && this.plan.startFolding !== null && refusesStream(refusal) ? this.#withoutStream() : next;
  }

  /** Replans the call as non-streaming for a target that does not stream, if its maximum cost can be held. */
  async #withoutStream(): Promise<NextAttempt | null> {
    const call = this.#held;
    const { facts, target, money, deps } = call;
    const limit = sentLimit(facts, call.protocol.name, target);
    const isTrusted = limit === null || deps.billing.limitProofs.trustOf(target.upstream, limit) === 'limit';
    const most = isTrusted ? mostOutputTokens(facts, target) : limit.mostWithoutIt;
    const covered = await money.coverUnmetered(most).catch((cause: unknown) => {
      throw new CallFailure('store_unavailable', 'the call could not be paid for; try again', {
        cause,
        retryAfterSeconds: 1,
      });
    });
    if (!covered) return null;
    call.folded = false;
    return { call: planCall(call), why: 'does not stream: asked again for an answer in one piece' };
  }
}

/** The answer if upstream refused the request; null: it did not. */
function refusalIn(outcome: AttemptOutcome): CollectedAnswer | null {
  return outcome.kind === 'collected' && outcome.answer.head.status !== 200 ? outcome.answer : null;
}

/** Upstream answered without the member: later requests to it leave the member out. */
function rememberUnknown({ deps, principal, target }: Routed, member: string): void {
  deps.refusedMembers.note(target.upstream, member, principal.workspaceId, Date.now());
}

/** An error other than a CallFailure is a fault of the gateway. */
function failureOf(error: unknown): CallFailure {
  return error instanceof CallFailure
    ? error
    : new CallFailure('gateway_fault', 'the gateway failed', { cause: error });
}
