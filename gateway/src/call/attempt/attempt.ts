/**
 * Makes the attempts of a call as a state machine: the request goes to the target, callbacks judge the outcome, and the
 * request goes out again in another form until an answer begins or nothing is left to try. Notes each attempt in the
 * record.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { Handle } from '../../lib/open-set.ts';
import type { FailureClass } from '../../routing/health/failure-table.ts';
import type { AttemptFailure as FailedAttempt } from '../../routing/planned-call.ts';
import type { Target } from '../../routing/route.ts';
import { headerOf, type ResponseHead } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { AttemptRow, type Held, setTarget } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import { mostOutputTokens, sentLimit } from '../money/limit-proofs.ts';
import { isRefusal, type LostCost, priceLostAttempt } from '../money/lost-attempt.ts';
import { planCall } from '../plan/plan-call.ts';
import { type Folding, type NextAttempt, refusesStream, type UpstreamCall } from '../plan/upstream-call.ts';
import type { ClientStream } from '../stream/client-stream.ts';
import { type FoldedStream, openFold } from '../stream/folded-stream.ts';
import { CallStream, type StreamedCall } from '../stream/open-relay.ts';
import type { RelayListener, StreamRelay } from '../stream/stream-relay.ts';
import { CallTargets, type NextRequest, type NoTarget } from './call-targets.ts';
import { AnswerCollector, type CollectedAnswer } from './collect-answer.ts';
import {
  brokenStream,
  type NotAnswered,
  notAnswered,
  type ReadAnswer,
  type Reply,
  readCollected,
  readFolded,
} from './read-answer.ts';
import { sendRequest } from './send-request.ts';
import { AttemptFailure, classOf } from './upstream-outcome.ts';

/** How the attempts ended: with a stream to the client, which goes on, or with a reply in one piece. */
export type AttemptOutcome =
  | { readonly kind: 'stream'; readonly stream: ClientStream; readonly attempts: Interruptible }
  | { readonly kind: 'reply'; readonly reply: Reply };

/** Upstream may refuse two optional features of a call, each once. */
const FORMS_MAX = 3;
/** SDKs repeat a failed request at once; a route whose targets all fail needs a moment. */
const DEAD_ROUTE_SECONDS = 5;
const REPEATED_BY_CLIENTS: ReadonlySet<string> = new Set(['unreached', 'reset', 'fault', 'overloaded', 'timeout']);

/** An attempt that did not become an answer. */
interface LostRequest extends FailedAttempt {
  readonly lost: NotAnswered;
  readonly target: Target;
}

/**
 * Sends the call upstream, first as planned, then to the other targets as `CallTargets` says, and resolves with the
 * beginning of the answer. Rejects with CallFailure; `call.attempts` holds the attempts.
 */
export function attempt(call: Held, plan: UpstreamCall): Promise<AttemptOutcome> {
  return new Attempts(call, plan).run();
}

class Attempts implements RelayListener, StreamedCall, Interruptible, EventListenerObject, Deadline {
  dueMs = Number.POSITIVE_INFINITY;
  slot = UNWATCHED;
  readonly #call: Held;
  readonly #targets: CallTargets<LostRequest>;
  #plan: UpstreamCall;
  #row: AttemptRow;
  #resolve!: (outcome: AttemptOutcome) => void;
  #reject!: (reason: unknown) => void;
  #handle: Handle<Interruptible> | null = null;
  /**
   * `waiting` for a target; `sent`: an attempt runs; `answering`: a stream has content, and its relay goes on; `over`:
   * nothing more follows.
   */
  #state: 'waiting' | 'sent' | 'answering' | 'over' = 'waiting';
  /** What the attempt before cost, for its row once another one follows: the settlement prices the last. */
  #lostCost: LostCost | null = null;
  /** Requests to the present target. */
  #forms = 0;
  #tap: UpstreamTap | null = null;
  /** The client's side of a streamed call, across attempts. */
  #stream: CallStream | null = null;
  #relay: StreamRelay | null = null;
  #fold: FoldedStream | null = null;
  #observer: Folding['observer'] | null = null;
  /** The member that upstream did not know in the attempt before. */
  #unknownMember: string | undefined;

  constructor(call: Held, plan: UpstreamCall) {
    this.#call = call;
    this.#plan = plan;
    this.#targets = new CallTargets(call, plan);
    this.#row = new AttemptRow(call);
  }

  run(): Promise<AttemptOutcome> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#handle = this.#call.deps.openCalls.add(this);
      this.#call.request.signal.addEventListener('abort', this);
      if (this.#call.request.signal.aborted) this.handleEvent();
      else this.#follow(this.#targets.begin());
    });
  }

  /** Makes the next attempt, once its target can take it, or ends the call. */
  #follow(next: NextRequest<LostRequest> | Promise<NextRequest<LostRequest>>): void {
    if (!(next instanceof Promise)) {
      this.#attempt(next, 0);
      return;
    }
    const sinceMs = performance.now();
    next.then(
      (late) => this.#attempt(late, Math.round(performance.now() - sinceMs)),
      (error: unknown) => this.#finish(notAnswered(failureOf(error), null)),
    );
  }

  #attempt(next: NextRequest<LostRequest>, waitMs: number): void {
    if (this.#state === 'over') return;
    if ('best' in next) {
      this.#endWithout(next);
      return;
    }
    const call = this.#call;
    const { plan } = this.#targets;
    if (this.#lostCost !== null) this.#row.price(this.#lostCost);
    this.#lostCost = null;
    const credential = call.target.upstream.credentials[plan.credential]?.name ?? 'default';
    const isPlain = plan.made === 1 && plan.why === 'order' && credential === 'default' && waitMs === 0;
    this.#row = new AttemptRow(call, isPlain ? null : { why: plan.why, credential, waitMs });
    if (plan.why !== 'retry') call.why = plan.why;
    call.dispatched = false;
    call.undelivered = null;
    call.firstByteMs = null;
    this.#plan = next;
    this.#forms = 0;
    this.#unknownMember = undefined;
    this.#start();
    this.#watch();
  }

  /** Ends the call with the failure of the attempt that says most; none was made: with the reason. */
  #endWithout({ best, refusal }: NoTarget<LostRequest>): void {
    if (best === null) {
      this.#finish(notAnswered(refusal ?? new CallFailure('gateway_fault', 'the gateway failed'), null));
      return;
    }
    const call = this.#call;
    if (best.target !== call.target) setTarget(call, best.target);
    this.#finish(best.lost);
  }

  #start(): void {
    const call = this.#call;
    this.#state = 'sent';
    call.attempted = true;
    this.#forms += 1;
    try {
      this.#begin();
    } catch (error) {
      this.#lose(this.#broken(failureOf(error)));
    }
  }

  /** Sends the request and connects the reader of the answer. */
  #begin(): void {
    const { startFolding } = this.#plan;
    const call = this.#call;
    this.#relay = null;
    this.#fold = null;
    this.#observer = null;
    if (startFolding !== null) this.#beginFold(startFolding());
    else if (call.facts.stream) this.#beginStream();
    else this.#send('plain', new AnswerCollector(call.settings.config.limits, this));
  }

  #send(operation: 'plain' | 'stream', reader: ExchangeListener): UpstreamTap {
    const { credential } = this.#targets.plan;
    const row = this.#row;
    const tap = sendRequest(this.#call, this.#plan, row, operation, credential, reader);
    // An upstream inside the gateway may have answered already, and the next attempt be on its way.
    if (this.#row === row) this.#tap = tap;
    return tap;
  }

  #beginStream(): void {
    const row = this.#row;
    const plan = this.#plan;
    const observer = plan.startObserver();
    this.#stream ??= new CallStream(this.#call, this);
    const { relay, listener } = this.#stream.openRelay({ upstream: plan.protocol, observer, row }, this);
    this.#observer = observer;
    this.#relay = relay;
    relay.connect(this.#send('stream', row.listen(listener, observer)));
  }

  #beginFold(folding: Folding): void {
    const row = this.#row;
    const { stream, listener } = openFold(this.#call, folding);
    this.#observer = folding.observer;
    this.#fold = stream;
    stream.done.then(
      (end) => {
        if (this.#fold !== stream || this.#state === 'over') return;
        if (end.kind === 'collected') this.onAnswer(end.answer);
        else this.#takeFolded(folding, end);
      },
      (failure: CallFailure) => {
        if (this.#fold === stream) this.onAnswerFailed(failure);
      },
    );
    stream.connect(this.#send('stream', row.listen(listener, folding.observer)));
  }

  #takeFolded(folding: Folding, { head, cut }: { readonly head: ResponseHead; readonly cut: boolean }): void {
    const call = this.#call;
    this.#row.note(200, null);
    call.deps.billing.limitProofs.noteStreaming(call.target.upstream, null);
    this.#noteAccepted();
    this.#judge(() => readFolded(call, folding, head, cut, this.#plan));
  }

  /** Watches an attempt for its first byte, where it is known how long its target usually takes. */
  #watch(): void {
    if (this.#state !== 'sent') return;
    const nowMs = performance.now();
    const { plan } = this.#targets;
    const limpMs = plan.limpFirstByteMs(nowMs);
    this.dueMs = limpMs === null ? plan.overdueAtMs(nowMs) : plan.begunMs + limpMs;
    if (this.dueMs < Number.POSITIVE_INFINITY && this.slot === UNWATCHED) watchDeadline(this);
  }

  onDue(nowMs: number): void {
    if (this.#state !== 'sent' || (this.#row.marks?.headAtMs ?? 0) > 0) {
      this.#unwatch();
      return;
    }
    const { plan } = this.#targets;
    const againMs = plan.isLimp ? null : plan.overdue(this.#atRisk(this.#costOf('timeout', null)), nowMs);
    if (againMs === null) {
      const message = 'the model provider did not begin to answer in time';
      const failure = new AttemptFailure('upstream_timeout', 'timeout', message);
      const broken = this.#broken(failure);
      this.#abort(failure);
      this.#lose(broken);
    } else {
      this.dueMs = againMs;
      if (againMs === Number.POSITIVE_INFINITY) this.#unwatch();
    }
  }

  #unwatch(): void {
    if (this.slot !== UNWATCHED) unwatchDeadline(this);
  }

  /** The client left. */
  handleEvent(): void {
    if (this.#stream?.client.committed === true) this.#stream.client.leave();
    else this.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  }

  /** Ends the call for the gateway. */
  interrupt(failure: CallFailure): void {
    if (this.#state === 'answering') this.#stream?.client.interrupt(failure);
    else if (this.#state !== 'over') this.#finish(this.#stop(failure));
  }

  #abort(failure: CallFailure): void {
    this.#relay?.abort();
    this.#fold?.interrupt(failure);
    this.#fold = null;
    this.#tap?.abort();
    this.#tap = null;
  }

  /** The client left a stream that has no content yet. */
  onGivenUp(failure: CallFailure): void {
    if (this.#state === 'over') return;
    this.#call.undelivered = this.#stop(failure).facts;
    this.#close();
  }

  /** Aborts the running attempt. */
  #stop(failure: CallFailure): NotAnswered {
    const isSent = this.#state === 'sent';
    const broken = isSent ? this.#broken(failure) : notAnswered(failure, null);
    this.#state = 'over';
    this.#abort(failure);
    if (isSent) this.#row.note(null, failure.kind);
    this.#targets.abandoned();
    return broken;
  }

  onHead(head: ResponseHead): void {
    this.#call.firstByteMs = performance.now();
    this.#noteHead(head);
  }

  #noteHead(head: ResponseHead): void {
    this.#row.upstreamRequestId = headerOf(head, 'x-request-id') ?? headerOf(head, 'request-id');
    this.#targets.onHead(head.headers);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    if (this.#state !== 'sent') return;
    const call = this.#call;
    call.firstByteMs = performance.now();
    this.#noteHead(answer.head);
    this.#judge(() => {
      const { status } = answer.head;
      if (this.#plan.startFolding !== null) this.#noteStreaming(answer);
      if (status === 200) this.#noteAccepted();
      const next = status === 200 || this.#forms === FORMS_MAX ? null : this.#nextForm(answer);
      if (next === null) return this.#read(answer);
      if (next instanceof Promise)
        return next.then((late) => (late === null ? this.#read(answer) : this.#resend(late, status)));
      return this.#resend(next, status);
    });
  }

  #read(answer: CollectedAnswer): ReadAnswer | Promise<ReadAnswer> {
    this.#row.note(answer.head.status, null);
    return readCollected(this.#call, answer, this.#plan, this.#stream?.client.committed === true);
  }

  onAnswerFailed(failure: CallFailure): void {
    if (this.#state === 'sent') this.#lose(this.#broken(failure));
  }

  /** The stream has content: it is the answer. */
  onBegun(): void {
    this.#state = 'answering';
    this.#answered();
    this.#row.note(200, null);
    this.#call.deps.billing.limitProofs.noteStreaming(this.#call.target.upstream, null);
    this.#noteAccepted();
  }

  onCommitted(): void {
    if (this.#stream !== null) this.#resolve({ kind: 'stream', stream: this.#stream.client, attempts: this });
  }

  onClosed(): void {
    if (this.#state === 'answering') {
      const { failure } = this.#call;
      if (failure === null) this.#targets.ended(false);
      else if (FAILURE_KINDS[failure.kind].origin === 'upstream') this.#targets.ended(true);
      else this.#targets.abandoned();
    }
    this.#close();
  }

  #answered(): void {
    const headAtMs = this.#row.marks?.headAtMs ?? 0;
    this.#targets.answered(Math.max(0, (headAtMs === 0 ? performance.now() : headAtMs) - this.#targets.plan.begunMs));
  }

  /** Goes on with what `read` makes of an answer; null: another request is on its way. */
  #judge(read: () => ReadAnswer | null | Promise<ReadAnswer | null>): void {
    try {
      const outcome = read();
      if (outcome instanceof Promise) {
        outcome.then(
          (late) => this.#take(late),
          (error: unknown) => this.#lose(this.#broken(failureOf(error))),
        );
      } else this.#take(outcome);
    } catch (error) {
      this.#lose(this.#broken(failureOf(error)));
    }
  }

  #take(read: ReadAnswer | null): void {
    if (read === null || this.#state !== 'sent') return;
    if (read.kind === 'not_answered') this.#lose(read);
    else {
      this.#answered();
      this.#targets.ended(false);
      this.#close();
      this.#resolve({ kind: 'reply', reply: read.reply });
    }
  }

  /** The attempt did not become an answer: another one may. */
  #lose(lost: NotAnswered): void {
    if (this.#state === 'over') return;
    const call = this.#call;
    const { kind, details } = lost.failure;
    const row = this.#row;
    row.note(null, kind);
    if (details.cause !== undefined) {
      call.deps.log.upstream(call.requestId, call.target.upstream.provider, String(details.cause));
    }
    const failureClass = this.#classOf(lost.failure);
    if (failureClass === 'client') {
      this.#targets.abandoned();
      this.#finish(lost);
      return;
    }
    row.lose(kind, failureClass);
    this.#state = 'waiting';
    const cost = this.#costOf(failureClass, lost.facts);
    this.#lostCost = cost;
    const pauseMs = lost.failure instanceof AttemptFailure ? lost.failure.toldMs : null;
    const atRisk = this.#atRisk(cost);
    this.#follow(this.#targets.failed({ class: failureClass, pauseMs, atRisk, lost, target: call.target }));
  }

  /** Once upstream has sent content, also to be folded, a failure is a cut: nothing is tried again. */
  #classOf(failure: CallFailure): FailureClass {
    const found = classOf(failure);
    return found !== 'client' && this.#fold !== null && this.#observer?.begun === true ? 'cut' : found;
  }

  #costOf(failureClass: string, facts: NotAnswered['facts']): LostCost | null {
    const dispatched = (this.#row.marks?.sentAtMs ?? 0) > 0;
    return priceLostAttempt(this.#call, { dispatched, refused: isRefusal(failureClass), facts });
  }

  /** What the provider may have billed, in nano-USD; null: nothing. */
  #atRisk(cost: LostCost | null): bigint | null {
    return cost === null ? null : BigInt(cost.cost_nano_usd ?? 0);
  }

  /** Ends the call without an answer: with upstream's own refusal, or with an error of the gateway. */
  #finish({ failure: found, reply, facts }: NotAnswered): void {
    const call = this.#call;
    const failure = withRetryAfter(found);
    const client = this.#stream?.client;
    call.undelivered = facts;
    if (client?.committed === true) {
      this.#state = 'over';
      client.fail(failure);
      return;
    }
    client?.discard();
    this.#close();
    if (reply === null) this.#reject(failure);
    else {
      call.failure = failure;
      this.#resolve({ kind: 'reply', reply });
    }
  }

  #close(): void {
    this.#state = 'over';
    this.#unwatch();
    if (this.#handle !== null) this.#call.deps.openCalls.remove(this.#handle);
    this.#handle = null;
  }

  /** Sends the request again, in another form, to the target that refused it. */
  #resend({ call: plan, why, learned, unknownMember }: NextAttempt, status: number): null {
    const call = this.#call;
    this.#row.note(status, 'upstream_rejected');
    call.deps.log.upstream(call.requestId, call.target.upstream.provider, why);
    if (learned !== undefined) setTarget(call, { ...call.target, ...learned });
    call.dropped = plan.dropped;
    this.#plan = plan;
    this.#unknownMember = unknownMember;
    this.#row = new AttemptRow(call);
    this.#start();
    return null;
  }

  /** Another form of the request after a refusal; null: the refusal is final. */
  #nextForm(refusal: CollectedAnswer): NextAttempt | null | Promise<NextAttempt | null> {
    const next = this.#plan.nextAttemptAfter(refusal);
    return next === null && this.#plan.startFolding !== null && refusesStream(refusal) ? this.#withoutStream() : next;
  }

  /** Replans the call as non-streaming for a target that does not stream, if its maximum cost can be held. */
  async #withoutStream(): Promise<NextAttempt | null> {
    const call = this.#call;
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

  /** Upstream answered without the member: later requests to it leave the member out. */
  #noteAccepted(): void {
    if (this.#unknownMember === undefined) return;
    const { deps, principal, target } = this.#call;
    deps.refusedMembers.note(target.upstream, this.#unknownMember, principal.workspaceId, Date.now());
  }

  /** Notes what an answer in one piece says about a target that was to stream. */
  #noteStreaming(answer: CollectedAnswer): void {
    const { limitProofs } = this.#call.deps.billing;
    const { upstream } = this.#call.target;
    if (answer.head.status === 200) limitProofs.noteStreaming(upstream, 'ignores');
    else if (refusesStream(answer)) limitProofs.noteStreaming(upstream, 'refuses');
  }

  /** The running attempt with the failure that ended it. */
  #broken(failure: CallFailure): NotAnswered {
    return this.#observer === null ? notAnswered(failure, null) : brokenStream(failure, this.#observer);
  }
}

/** Clients of a route whose targets all fail come back after a moment. */
function withRetryAfter(failure: CallFailure): CallFailure {
  const { kind, message, details } = failure;
  if (details.retryAfterSeconds !== undefined || !REPEATED_BY_CLIENTS.has(classOf(failure))) return failure;
  return new CallFailure(kind, message, { ...details, retryAfterSeconds: DEAD_ROUTE_SECONDS });
}

/** An error other than a CallFailure is a fault of the gateway. */
function failureOf(error: unknown): CallFailure {
  return error instanceof CallFailure
    ? error
    : new CallFailure('gateway_fault', 'the gateway failed', { cause: error });
}
