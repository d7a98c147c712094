/**
 * Makes the attempts of a call as a state machine: the request goes to a target, callbacks judge the outcome, and it
 * goes out again until an answer begins or nothing is left to try. Notes each attempt in the record.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Handle } from '../../lib/open-set.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { type AttemptChoice, AttemptRow, type Held, setTarget } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { Folding, NextAttempt, UpstreamCall } from '../plan/upstream-call.ts';
import type { ClientStream } from '../stream/client-stream.ts';
import type { FoldedStreamEnd } from '../stream/folded-stream.ts';
import { CallStream, type StreamedCall } from '../stream/open-relay.ts';
import { CallTargets, type NextRequest, type NoTarget, whenPrepared } from './call-targets.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { type FirstByteWatch, type Hedge, openHedge, type WatchedAttempt, watchFirstByte } from './late-attempt.ts';
import { type LostRequest, loseRequest, riskOfWaiting } from './lost-request.ts';
import { type NotAnswered, notAnswered, type ReadAnswer, type Reply, readFolded } from './read-answer.ts';
import { RequestForms } from './request-forms.ts';
import { type AttemptListener, RunningAttempt } from './running-attempt.ts';
import { failureOf, retryWithin, withRetryAfter } from './upstream-outcome.ts';

/** How the attempts ended: with a stream to the client, which goes on, or with a reply in one piece. */
export type AttemptOutcome =
  | { readonly kind: 'stream'; readonly stream: ClientStream; readonly attempts: Interruptible }
  | { readonly kind: 'reply'; readonly reply: Reply };

/** Sends the call upstream, first as planned, and resolves with the beginning of an answer. Rejects with CallFailure. */
export function attempt(call: Held, plan: UpstreamCall): Promise<AttemptOutcome> {
  return new Attempts(call, plan).run();
}

class Attempts implements AttemptListener, StreamedCall, Interruptible, EventListenerObject, WatchedAttempt {
  readonly #call: Held;
  #targets: CallTargets<LostRequest>;
  #forms: RequestForms;
  #resolve!: (outcome: AttemptOutcome) => void;
  #reject!: (reason: unknown) => void;
  #handle: Handle<Interruptible> | null = null;
  /**
   * `waiting` for a target; `sent`: an attempt runs; `answering`: a stream has content, and its relay goes on; `over`:
   * nothing more follows.
   */
  #state: 'waiting' | 'sent' | 'answering' | 'over' = 'waiting';
  /** The latest; null: none was made yet. */
  #attempt: RunningAttempt | null = null;
  /** The attempt before. Its row gets its cost once another one follows: the settlement prices the last. */
  #lost: LostRequest | null = null;
  /** The client's side of a streamed call, across attempts. */
  #stream: CallStream | null = null;
  #watch: FirstByteWatch | null = null;
  /** A second attempt beside `#attempt`; null: there is one attempt. */
  #hedge: Hedge | null = null;

  constructor(call: Held, plan: UpstreamCall) {
    this.#call = call;
    this.#forms = new RequestForms(call, plan);
    this.#targets = new CallTargets(call, plan);
  }

  run(): Promise<AttemptOutcome> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#handle = this.#call.deps.openCalls.add(this);
      this.#call.request.signal.addEventListener('abort', this);
      if (this.#call.request.signal.aborted) this.handleEvent();
      else this.#follow(null);
    });
  }

  /** Makes the first attempt, or the one after `lost`, once its target can take it, or ends the call. */
  #follow(lost: LostRequest | null): void {
    whenPrepared(
      () => (lost === null ? this.#targets.begin() : this.#targets.failed(lost)),
      (next, waitMs) => this.#take(next, waitMs),
      (error) => this.#stray(error),
    );
  }

  /** The next target could not be prepared, by a fault of the gateway. */
  #stray(error: unknown): void {
    if (this.#state === 'over') return;
    this.#priceLost();
    this.#targets.abandoned();
    this.#finish(notAnswered(failureOf(error), null));
  }

  #take(next: NextRequest<LostRequest>, waitMs: number): void {
    if (this.#state === 'over') return;
    if ('best' in next) {
      this.#endWithout(next);
      return;
    }
    const call = this.#call;
    const { plan } = this.#targets;
    this.#priceLost();
    if (plan.why !== 'retry') call.why = plan.why;
    call.undelivered = null;
    call.firstByteMs = null;
    if (next !== this.#forms.plan) this.#forms = new RequestForms(call, next);
    this.#start(this.#targets.describeChoice(waitMs));
    if (this.isSilent) this.#watch = watchFirstByte(this.#watch, this.#call, this.#targets.plan, this);
  }

  /** Ends the call with the failure of the attempt that says most; none was made: with the reason. */
  #endWithout({ best, refusal, retryAfterSeconds }: NoTarget<LostRequest>): void {
    if (best === null) {
      this.#finish(notAnswered(refusal ?? new CallFailure('gateway_fault', 'the gateway failed'), null));
      return;
    }
    const lost = { ...best.lost, failure: retryWithin(best.lost.failure, retryAfterSeconds) };
    if (best === this.#lost) {
      this.#finish(lost);
      return;
    }
    this.#priceLost();
    setTarget(this.#call, best.target);
    this.#finish({ ...lost, facts: null });
  }

  /** The attempt before is not the call's last. */
  #priceLost(): void {
    if (this.#lost !== null) this.#attempt?.row.price(this.#lost.cost);
    this.#lost = null;
  }

  /** Sends the request in its present form. */
  #start(choice: AttemptChoice | null): void {
    this.#state = 'sent';
    this.#call.attempted = true;
    this.#forms.noteSent();
    this.#attempt = new RunningAttempt(this.#call, this.#forms.plan, new AttemptRow(this.#call, choice), this);
    this.#attempt.start(this.#targets);
  }

  get isCommitted(): boolean {
    return this.#stream?.client.committed === true;
  }

  get isStream(): boolean {
    return this.#stream !== null;
  }

  openStream(): CallStream {
    this.#stream ??= new CallStream(this.#call, this);
    return this.#stream;
  }

  get isSilent(): boolean {
    return this.#state === 'sent' && this.#lost === null && this.#attempt?.isSilent === true;
  }

  get atRisk(): bigint | null {
    return this.#attempt === null ? null : riskOfWaiting(this.#call, this.#attempt.row);
  }

  /** Another target may be faster: it gets the request too, and the first content is the answer. */
  onSlow(): void {
    if (this.#attempt === null) return;
    const hedge = openHedge(this.#call, this.#attempt.row, this.#targets, this);
    this.#hedge = hedge;
    hedge?.attempt.start(hedge.targets);
  }

  /** Goes on with one of two attempts; the other one ends. */
  #decide(winner: RunningAttempt): void {
    const hedge = this.#hedge;
    const first = this.#attempt;
    if (hedge === null || first === null) return;
    this.#hedge = null;
    const loser = winner === first ? hedge.attempt : first;
    if (loser === first && this.#lost !== null) {
      this.#targets.lost(this.#lost);
      this.#priceLost();
    } else hedge.beat(loser, loser === first ? this.#targets : hedge.targets);
    hedge.enter(winner);
    winner.row.putLast();
    this.#stream?.choose(winner.row);
    if (winner === first) return;
    this.#attempt = winner;
    this.#targets = hedge.targets;
    this.#forms = new RequestForms(this.#call, winner.plan);
  }

  /** The target is switched off, and another one can be used. */
  onLate(failure: CallFailure): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    this.#hedge?.enter(attempt);
    const broken = attempt.broken(failure);
    attempt.abort(failure);
    this.#lose(attempt, broken);
  }

  /** The client left. */
  handleEvent(): void {
    if (this.isCommitted) this.#stream?.client.leave();
    else this.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  }

  /** Ends the call for the gateway. */
  interrupt(failure: CallFailure): void {
    if (this.#state === 'answering') this.#stream?.client.interrupt(failure);
    else if (this.#state !== 'over') this.#finish(this.#stop(failure));
  }

  /** The client left a stream that has no content yet. */
  onGivenUp(failure: CallFailure): void {
    if (this.#state === 'over') return;
    this.#call.undelivered = this.#stop(failure).facts;
    this.#close();
  }

  /** Aborts the running attempt. */
  #stop(failure: CallFailure): NotAnswered {
    if (this.#hedge !== null && this.#attempt !== null) {
      this.#decide(this.#lost === null ? this.#attempt : this.#hedge.attempt);
    }
    const attempt = this.#state === 'sent' ? this.#attempt : null;
    const broken = attempt?.broken(failure) ?? notAnswered(failure, null);
    this.#state = 'over';
    attempt?.abort(failure);
    if (attempt !== null) attempt.row.note(null, failure.kind);
    // No attempt runs, so the client pays for none.
    else this.#priceLost();
    this.#targets.abandoned();
    return broken;
  }

  onHead(attempt: RunningAttempt, head: ResponseHead): void {
    this.#hedge?.enter(attempt);
    this.#call.firstByteMs = performance.now();
    (this.#hedge?.attempt === attempt ? this.#hedge.targets : this.#targets).onHead(head);
  }

  onAnswer(attempt: RunningAttempt, answer: CollectedAnswer): void {
    if (this.#state !== 'sent') return;
    this.#hedge?.enter(attempt);
    whenPrepared(
      () => this.#judge(attempt, answer),
      (read) => this.#takeAnswer(attempt, read),
      (fault) => this.onFailed(attempt, failureOf(fault)),
    );
  }

  /** What an answer is; null: another request is on its way. */
  #judge(attempt: RunningAttempt, answer: CollectedAnswer): ReadAnswer | null | Promise<ReadAnswer | null> {
    if (attempt === this.#hedge?.attempt) return attempt.read(answer);
    const { status } = answer.head;
    this.#forms.noteOnePiece(answer);
    if (status === 200) {
      this.#forms.noteAccepted();
      return attempt.read(answer);
    }
    const next = this.#forms.next(answer);
    if (next === null) return attempt.read(answer);
    if (!(next instanceof Promise)) return this.#resend(attempt, next, status);
    return next.then((late) => {
      // The call is over, or another attempt is its answer.
      if (this.#state !== 'sent' || this.#attempt !== attempt) return null;
      return late === null ? attempt.read(answer) : this.#resend(attempt, late, status);
    });
  }

  onContent(attempt: RunningAttempt): void {
    if (this.#hedge !== null && this.#state === 'sent') this.#decide(attempt);
  }

  onFolded(attempt: RunningAttempt, folding: Folding, { head, cut }: FoldedStreamEnd): void {
    if (this.#state !== 'sent') return;
    this.#decide(attempt);
    attempt.row.note(200, null);
    this.#forms.noteStreamed();
    this.#forms.noteAccepted();
    try {
      this.#takeAnswer(attempt, readFolded(this.#call, folding, head, cut, attempt.plan));
    } catch (error) {
      this.onFailed(attempt, failureOf(error));
    }
  }

  onFailed(attempt: RunningAttempt, failure: CallFailure): void {
    if (this.#state !== 'sent') return;
    this.#hedge?.enter(attempt);
    this.#lose(attempt, attempt.broken(failure));
  }

  /** The stream has content: it is the answer. */
  onBegun(attempt: RunningAttempt): void {
    const { row } = attempt;
    this.#decide(attempt);
    this.#state = 'answering';
    this.#targets.answered(row.marks?.headAtMs ?? 0);
    row.note(200, null);
    this.#forms.noteStreamed();
    this.#forms.noteAccepted();
  }

  onCommitted(): void {
    if (this.#stream !== null) this.#resolve({ kind: 'stream', stream: this.#stream.client, attempts: this });
  }

  onClosed(): void {
    if (this.#state === 'answering') this.#targets.closed(this.#call.failure);
    this.#close();
  }

  #takeAnswer(attempt: RunningAttempt, read: ReadAnswer | null): void {
    if (read === null || this.#state !== 'sent') return;
    this.#hedge?.enter(attempt);
    if (read.kind === 'not_answered') this.#lose(attempt, read);
    else {
      this.#decide(attempt);
      this.#targets.answered(this.#attempt?.row.marks?.headAtMs ?? 0);
      this.#targets.ended(false);
      this.#close();
      this.#resolve({ kind: 'reply', reply: read.reply });
    }
  }

  /** The attempt did not become an answer: another one may. */
  #lose(attempt: RunningAttempt, lost: NotAnswered): void {
    if (this.#state === 'over') return;
    const request = loseRequest(this.#call, attempt.row, lost, attempt.isCut);
    const hedge = this.#hedge;
    if (request.class === 'client') {
      this.#decide(attempt);
      this.#targets.abandoned();
      this.#finish(lost);
    } else if (hedge === null) this.#retry(request);
    else if (attempt === hedge.attempt) this.#loseHedge(hedge, request);
    // The other attempt may still answer.
    else this.#lost = request;
  }

  /** The second attempt did not become an answer: the first goes on, if it has not failed before. */
  #loseHedge(hedge: Hedge, request: LostRequest): void {
    this.#hedge = null;
    hedge.attempt.row.price(request.cost);
    hedge.targets.lost(request);
    if (this.#attempt !== null) {
      hedge.enter(this.#attempt);
      // Its row may be noted already, and is that by which the call is settled.
      if (this.#lost === null) this.#attempt.row.putLast();
      this.#stream?.choose(this.#attempt.row);
    }
    this.#targets.plan.leaveOut(request.target, request);
    if (this.#lost !== null) this.#retry(this.#lost);
  }

  #retry(request: LostRequest): void {
    this.#state = 'waiting';
    this.#lost = request;
    this.#follow(request);
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
    this.#watch?.stop();
    if (this.#handle !== null) this.#call.deps.openCalls.remove(this.#handle);
    this.#handle = null;
  }

  /** Sends the request again, in another form, to the target that refused it. */
  #resend({ row }: RunningAttempt, next: NextAttempt, status: number): null {
    const call = this.#call;
    const { why, learned } = next;
    row.note(status, 'upstream_rejected');
    call.deps.log.upstream(call.requestId, call.target.upstream.provider, why);
    if (learned !== undefined) setTarget(call, { ...call.target, ...learned });
    this.#forms.take(next);
    this.#start(row.choice);
    return null;
  }
}
