/** Asks the host's own token counter, once more in another form where it refuses the first. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Handle } from '../../lib/open-set.ts';
import { NoEndpoint } from '../../providers/exchanges/request-head.ts';
import type { UpstreamTap } from '../../upstream/exchange.ts';
import { AttemptRow, type Routed } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { AnswerCollector, type AnswerListener, type CollectedAnswer } from './collect-answer.ts';
import { sendRequest } from './running-attempt.ts';
import { failureOf } from './upstream-outcome.ts';

const FORMS_MAX = 3;

/** Resolves with the host's answer of any status; null: it has no counter. Rejects with CallFailure. */
export async function attemptCount(call: Routed, plan: UpstreamCall): Promise<CollectedAnswer | null> {
  let form = plan;
  for (let made = 1; ; made++) {
    const answer = await new CountAttempt(call, form).run();
    if (answer === null) return null;
    const next = answer.head.status === 200 || made === FORMS_MAX ? null : form.nextAttemptAfter(answer);
    if (next === null) return answer;
    form = next.call;
    call.dropped = form.dropped;
  }
}

class CountAttempt implements AnswerListener, Interruptible, EventListenerObject {
  readonly #call: Routed;
  readonly #plan: UpstreamCall;
  readonly #row: AttemptRow;
  readonly #outcome = Promise.withResolvers<CollectedAnswer | null>();
  #tap: UpstreamTap | null = null;
  #handle: Handle<Interruptible> | null = null;

  constructor(call: Routed, plan: UpstreamCall) {
    this.#call = call;
    this.#plan = plan;
    this.#row = new AttemptRow(call);
  }

  run(): Promise<CollectedAnswer | null> {
    const call = this.#call;
    const { signal } = call.request;
    call.attempted = true;
    this.#handle = call.deps.openCalls.add(this);
    signal.addEventListener('abort', this);
    try {
      if (signal.aborted) this.handleEvent();
      else this.#send();
    } catch (cause) {
      if (cause instanceof NoEndpoint) this.#resolveWithout();
      else this.onAnswerFailed(failureOf(cause));
    }
    return this.#outcome.promise;
  }

  #send(): void {
    const { credential } = this.#call;
    const place = { plan: { credential, isFresh: false }, laterEndMs: null };
    const reader = new AnswerCollector(this.#call.settings.config.limits, this);
    this.#tap = sendRequest(this.#call, this.#plan, this.#row, 'count_tokens', place, reader);
  }

  #resolveWithout(): void {
    this.#call.attempted = false;
    if (this.#end()) this.#outcome.resolve(null);
  }

  /** The client left. */
  handleEvent(): void {
    this.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  }

  interrupt(failure: CallFailure): void {
    if (this.#handle === null) return;
    this.#tap?.abort();
    this.onAnswerFailed(failure);
  }

  onEnough(): void {
    this.#tap?.abort();
  }

  onAnswer(answer: CollectedAnswer): void {
    if (!this.#end()) return;
    this.#row.note(answer.head.status, null);
    this.#outcome.resolve(answer);
  }

  onAnswerFailed(failure: CallFailure): void {
    if (!this.#end()) return;
    this.#row.note(null, failure.kind);
    this.#outcome.reject(failure);
  }

  /** False: it is over already. */
  #end(): boolean {
    const handle = this.#handle;
    if (handle === null) return false;
    this.#handle = null;
    this.#call.deps.openCalls.remove(handle);
    this.#call.request.signal.removeEventListener('abort', this);
    return true;
  }
}
