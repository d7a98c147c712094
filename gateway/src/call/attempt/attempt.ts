/**
 * Makes the attempts of a call as a state machine: the request goes to a target, callbacks judge the outcome, and it
 * goes out again until an answer begins or nothing is left to try. Notes each attempt in the record.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Handle } from '../../lib/open-set.ts';
import { headerOf, type ResponseHead } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { AttemptRow, type Held, setTarget } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { Folding, NextAttempt, UpstreamCall } from '../plan/upstream-call.ts';
import type { ClientStream } from '../stream/client-stream.ts';
import { type FoldedStream, openFold } from '../stream/folded-stream.ts';
import { CallStream, type StreamedCall } from '../stream/open-relay.ts';
import type { RelayListener, StreamRelay } from '../stream/stream-relay.ts';
import { CallTargets, type NextRequest, type NoTarget } from './call-targets.ts';
import { AnswerCollector, type CollectedAnswer } from './collect-answer.ts';
import { FirstByteWatch, type WatchedAttempt } from './first-byte-watch.ts';
import { type LostRequest, loseRequest, riskOfWaiting } from './lost-request.ts';
import {
  brokenStream,
  type NotAnswered,
  notAnswered,
  type ReadAnswer,
  type Reply,
  readCollected,
  readFolded,
} from './read-answer.ts';
import { RequestForms } from './request-forms.ts';
import { sendRequest } from './send-request.ts';
import { AttemptFailure, failureOf, withRetryAfter } from './upstream-outcome.ts';

/** How the attempts ended: with a stream to the client, which goes on, or with a reply in one piece. */
export type AttemptOutcome =
  | { readonly kind: 'stream'; readonly stream: ClientStream; readonly attempts: Interruptible }
  | { readonly kind: 'reply'; readonly reply: Reply };

/** Sends the call upstream, first as planned, and resolves with the beginning of an answer. Rejects with CallFailure. */
export function attempt(call: Held, plan: UpstreamCall): Promise<AttemptOutcome> {
  return new Attempts(call, plan).run();
}

class Attempts implements RelayListener, StreamedCall, Interruptible, EventListenerObject, WatchedAttempt {
  readonly #call: Held;
  readonly #targets: CallTargets<LostRequest>;
  readonly #watch: FirstByteWatch;
  #forms: RequestForms;
  #row: AttemptRow;
  #resolve!: (outcome: AttemptOutcome) => void;
  #reject!: (reason: unknown) => void;
  #handle: Handle<Interruptible> | null = null;
  /**
   * `waiting` for a target; `sent`: an attempt runs; `answering`: a stream has content, and its relay goes on; `over`:
   * nothing more follows.
   */
  #state: 'waiting' | 'sent' | 'answering' | 'over' = 'waiting';
  /** The attempt before. Its row gets its cost once another one follows: the settlement prices the last. */
  #lostRequest: LostRequest | null = null;
  #tap: UpstreamTap | null = null;
  /** The client's side of a streamed call, across attempts. */
  #stream: CallStream | null = null;
  #relay: StreamRelay | null = null;
  #fold: FoldedStream | null = null;
  #observer: Folding['observer'] | null = null;

  constructor(call: Held, plan: UpstreamCall) {
    this.#call = call;
    this.#forms = new RequestForms(call, plan);
    this.#targets = new CallTargets(call, plan);
    this.#watch = new FirstByteWatch(this.#targets.plan, this);
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
    this.#row.price(this.#lostRequest?.cost ?? null);
    this.#lostRequest = null;
    this.#row = new AttemptRow(call, this.#targets.describeChoice(waitMs));
    if (plan.why !== 'retry') call.why = plan.why;
    call.undelivered = null;
    call.firstByteMs = null;
    if (next !== this.#forms.plan) this.#forms = new RequestForms(call, next);
    this.#start();
    if (this.isSilent) this.#watch.start();
  }

  /** Ends the call with the failure of the attempt that says most; none was made: with the reason. */
  #endWithout({ best, refusal }: NoTarget<LostRequest>): void {
    if (best === null) {
      this.#finish(notAnswered(refusal ?? new CallFailure('gateway_fault', 'the gateway failed'), null));
      return;
    }
    if (best === this.#lostRequest) {
      this.#finish(best.lost);
      return;
    }
    // The cost of an earlier attempt is in its row.
    this.#row.price(this.#lostRequest?.cost ?? null);
    setTarget(this.#call, best.target);
    this.#finish({ ...best.lost, facts: null });
  }

  #start(): void {
    const call = this.#call;
    this.#state = 'sent';
    call.attempted = true;
    this.#forms.noteSent();
    try {
      this.#begin();
    } catch (error) {
      this.#lose(this.#broken(failureOf(error)));
    }
  }

  /** Sends the request and connects the reader of the answer. */
  #begin(): void {
    const { startFolding } = this.#forms.plan;
    const call = this.#call;
    this.#relay = null;
    this.#fold = null;
    this.#observer = null;
    if (startFolding !== null) this.#beginFold(startFolding());
    else if (call.facts.stream) this.#beginStream();
    else this.#send('plain', new AnswerCollector(call.settings.config.limits, this));
  }

  #send(operation: 'plain' | 'stream', reader: ExchangeListener): UpstreamTap {
    const row = this.#row;
    const tap = sendRequest(this.#call, this.#forms.plan, row, operation, this.#targets, reader);
    // An upstream inside the gateway may have answered already, and the next attempt be on its way.
    if (this.#row === row) this.#tap = tap;
    return tap;
  }

  #beginStream(): void {
    const row = this.#row;
    const { plan } = this.#forms;
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
    this.#forms.noteStreamed();
    this.#forms.noteAccepted();
    this.#judge(() => readFolded(call, folding, head, cut, this.#forms.plan));
  }

  get isSilent(): boolean {
    return this.#state === 'sent' && (this.#row.marks?.headAtMs ?? 0) === 0;
  }

  get atRisk(): bigint | null {
    return riskOfWaiting(this.#call, this.#row);
  }

  /** The target is switched off, and another one can be used. */
  onLate(): void {
    const message = 'the model provider did not begin to answer in time';
    const failure = new AttemptFailure('upstream_timeout', 'timeout', message);
    const broken = this.#broken(failure);
    this.#abort(failure);
    this.#lose(broken);
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
    // No attempt runs, so the client pays for none.
    else this.#row.price(this.#lostRequest?.cost ?? null);
    this.#targets.abandoned();
    return broken;
  }

  onHead(head: ResponseHead): void {
    this.#call.firstByteMs = performance.now();
    this.#row.upstreamRequestId = headerOf(head, 'x-request-id') ?? headerOf(head, 'request-id');
    this.#targets.onHead(head.headers);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    if (this.#state !== 'sent') return;
    this.onHead(answer.head);
    this.#judge(() => {
      const { status } = answer.head;
      this.#forms.noteOnePiece(answer);
      if (status === 200) this.#forms.noteAccepted();
      const next = status === 200 ? null : this.#forms.next(answer);
      if (next === null) return this.#read(answer);
      if (!(next instanceof Promise)) return this.#resend(next, status);
      return next.then((late) => (late === null ? this.#read(answer) : this.#resend(late, status)));
    });
  }

  #read(answer: CollectedAnswer): ReadAnswer | Promise<ReadAnswer> {
    this.#row.note(answer.head.status, null);
    return readCollected(this.#call, answer, this.#forms.plan, this.#stream?.client.committed === true);
  }

  onAnswerFailed(failure: CallFailure): void {
    if (this.#state === 'sent') this.#lose(this.#broken(failure));
  }

  /** The stream has content: it is the answer. */
  onBegun(): void {
    this.#state = 'answering';
    this.#answered();
    this.#row.note(200, null);
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

  #answered(): void {
    this.#targets.answered(this.#row.marks?.headAtMs ?? 0);
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
    const isCut = this.#fold !== null && this.#observer?.begun === true;
    const request = loseRequest(this.#call, this.#row, lost, isCut);
    if (request.class === 'client') {
      this.#targets.abandoned();
      this.#finish(lost);
      return;
    }
    this.#state = 'waiting';
    this.#lostRequest = request;
    this.#follow(this.#targets.failed(request));
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
    this.#watch.stop();
    if (this.#handle !== null) this.#call.deps.openCalls.remove(this.#handle);
    this.#handle = null;
  }

  /** Sends the request again, in another form, to the target that refused it. */
  #resend(next: NextAttempt, status: number): null {
    const call = this.#call;
    const { why, learned } = next;
    this.#row.note(status, 'upstream_rejected');
    call.deps.log.upstream(call.requestId, call.target.upstream.provider, why);
    if (learned !== undefined) setTarget(call, { ...call.target, ...learned });
    this.#forms.take(next);
    this.#row = new AttemptRow(call, this.#row.choice);
    this.#start();
    return null;
  }

  /** The running attempt with the failure that ended it. */
  #broken(failure: CallFailure): NotAnswered {
    return this.#observer === null ? notAnswered(failure, null) : brokenStream(failure, this.#observer);
  }
}
