/** Asks the host's own token counter, once more in another form where it refuses the first. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Handle } from '../../lib/open-set.ts';
import { NoEndpoint } from '../../providers/exchanges/request-head.ts';
import type { UpstreamTap } from '../../upstream/exchange.ts';
import { AttemptRow, type Routed } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { AnswerCollector, type AnswerListener, type CollectedAnswer } from './collect-answer.ts';
import { readOwnRefusal } from './read-answer.ts';
import { sendRequest } from './running-attempt.ts';
import { classOf, failureOf } from './upstream-outcome.ts';

const FORMS_MAX = 3;

/** Statuses of hosts that have no token counter. */
const NO_COUNTER = new Set([404, 405, 501]);
/** A 404 about the model comes from a counter, so the host has one (recorded at Anthropic, 2026). */
const NAMES_MODEL = /"message"\s*:\s*"model:/;

function hasNoCounter({ head, body }: CollectedAnswer): boolean {
  return NO_COUNTER.has(head.status) && !NAMES_MODEL.test(body.toString('latin1', 0, 500));
}

/** Resolves with the host's count or refusal; null: it has no counter. Rejects with CallFailure. */
export async function attemptCount(call: Routed, plan: UpstreamCall): Promise<CollectedAnswer | null> {
  let form = plan;
  for (let made = 1; ; made++) {
    const answer = await new CountAttempt(call, form).run();
    if (answer === null) return null;
    const next = answer.head.status === 200 || made === FORMS_MAX ? null : form.nextAttemptAfter(answer);
    if (next === null) return hasNoCounter(answer) ? null : answer;
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
    const { status } = answer.head;
    this.#row.note(status, null);
    if (status !== 200 && !hasNoCounter(answer)) {
      this.#lose(readOwnRefusal(this.#call, answer, this.#plan.protocol).failure);
    }
    this.#outcome.resolve(answer);
  }

  onAnswerFailed(failure: CallFailure): void {
    if (!this.#end()) return;
    this.#row.note(null, failure.kind);
    this.#lose(failure);
    this.#outcome.reject(failure);
  }

  #lose(failure: CallFailure): void {
    const failureClass = classOf(failure);
    if (failureClass !== 'client') this.#row.lose(failure.kind, failureClass);
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
