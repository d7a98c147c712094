/**
 * Sends a request to the same target in another form where its refusal shows that the first cannot work, and notes what
 * the answers show of the target.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { Held } from '../call.ts';
import { mostOutputTokens, sentLimit } from '../money/limit-proofs.ts';
import { planCall } from '../plan/plan-call.ts';
import { type NextAttempt, refusesStream, type UpstreamCall } from '../plan/upstream-call.ts';
import type { CollectedAnswer } from './collect-answer.ts';

/** Upstream may refuse two optional features of a call, each once. */
const FORMS_MAX = 3;

/** The forms of one call's request at one target. */
export class RequestForms {
  readonly #call: Held;
  #plan: UpstreamCall;
  #sent = 0;
  /** The member that upstream did not know in the form before. */
  #unknownMember: string | undefined;

  constructor(call: Held, plan: UpstreamCall) {
    this.#call = call;
    this.#plan = plan;
  }

  get plan(): UpstreamCall {
    return this.#plan;
  }

  noteSent(): void {
    this.#sent += 1;
  }

  /** The next form after a refusal, not yet taken; null: the refusal is final. */
  next(refusal: CollectedAnswer): NextAttempt | null | Promise<NextAttempt | null> {
    if (this.#sent === FORMS_MAX) return null;
    const next = this.#plan.nextAttemptAfter(refusal);
    return next === null && this.#plan.startFolding !== null && refusesStream(refusal) ? this.#withoutStream() : next;
  }

  take({ call: plan, unknownMember }: NextAttempt): void {
    this.#plan = plan;
    this.#unknownMember = unknownMember;
    this.#call.dropped = plan.dropped;
  }

  /** Upstream answered without the member: later requests to it leave the member out. */
  noteAccepted(): void {
    if (this.#unknownMember === undefined) return;
    const { deps, principal, target } = this.#call;
    deps.refusedMembers.note(target.upstream, this.#unknownMember, principal.workspaceId, Date.now());
  }

  /** Upstream streams. */
  noteStreamed(): void {
    this.#call.deps.billing.limitProofs.noteStreaming(this.#call.target.upstream, null);
  }

  /** Notes what an answer in one piece says about a target that was to stream for a fold. */
  noteOnePiece(answer: CollectedAnswer): void {
    if (this.#plan.startFolding === null) return;
    const { limitProofs } = this.#call.deps.billing;
    const { upstream } = this.#call.target;
    if (answer.head.status === 200) limitProofs.noteStreaming(upstream, 'ignores');
    else if (refusesStream(answer)) limitProofs.noteStreaming(upstream, 'refuses');
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
}
