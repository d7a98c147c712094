/**
 * Leads a call over its targets: says what to send next, with its target's form of the request, its money and its place,
 * and tells the states and the choice what came of each attempt. Sends nothing itself.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import { AttemptPlan } from '../../routing/attempt-plan.ts';
import { type Candidate, isUsable, type UsableCandidate } from '../../routing/choose/candidate.ts';
import type { PlaceListener, TargetPlace } from '../../routing/choose/target-queues.ts';
import { TrackedAttempt } from '../../routing/choose/track-attempt.ts';
import type { FailureClass } from '../../routing/health/failure-table.ts';
import type { AttemptFailure as FailedAttempt, PlannedCall, Step } from '../../routing/planned-call.ts';
import type { Target } from '../../routing/route.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { type AttemptChoice, type Held, type Routed, setPriced, setTarget } from '../call.ts';
import { pricedMembersAt, switchTarget } from '../money/switch-target.ts';
import { planCall } from '../plan/plan-call.ts';
import { adaptTarget } from '../plan/refused-members.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { unavailableTargets } from '../reason/unavailable-targets.ts';
import { AttemptFailure } from './upstream-outcome.ts';

/** Nothing is left to try. */
export interface NoTarget<Failure> {
  readonly kind: 'no_target';
  /** The failed attempt to tell the client of; null: no attempt was made. */
  readonly best: Failure | null;
  /** Without an attempt: the failure to tell. */
  readonly refusal: CallFailure | null;
  /** When the first target that only pauses takes calls again; null: none is known to pause. */
  readonly retryAfterSeconds: number | null;
}

/** The request to send to `call.target`, or the end. */
export type NextRequest<Failure> = UpstreamCall | NoTarget<Failure>;

/**
 * Plans the call for its first target that can express it, and sets that target; those before it are not tried. Throws
 * CallFailure as `planCall` for the first if no target can.
 */
export function planFirst(call: Routed): UpstreamCall {
  try {
    return planCall(call);
  } catch (failure) {
    const { target: first, credential, priced, candidates } = call;
    if (!(failure instanceof CallFailure)) throw failure;
    for (const [place, candidate] of candidates.entries()) {
      if (place === 0 || !isUsable(candidate)) continue;
      const plan = planAt(call, candidate);
      if (plan === null) continue;
      const refused = candidates.slice(0, place).map(({ target }): Candidate => ({ target, ...CANNOT_EXPRESS }));
      call.candidates = [...refused, ...candidates.slice(place)];
      call.deps.log.upstream(call.requestId, first.upstream.provider, `passed over: ${failure.message}`);
      return plan;
    }
    setTarget(call, first);
    setPriced(call, priced);
    call.credential = credential;
    throw failure;
  }
}

const CANNOT_EXPRESS = { verdict: 'filtered', why: 'request' } as const;

/** Null: the target cannot express the call. */
function planAt(call: Routed, { target, credential }: UsableCandidate): UpstreamCall | null {
  const { principal, atMs, deps } = call;
  setTarget(call, adaptTarget(target, principal.workspaceId, atMs, deps.refusedMembers));
  call.credential = credential;
  try {
    setPriced(call, pricedMembersAt(call, target));
    return planCall(call);
  } catch (failure) {
    if (failure instanceof CallFailure) return null;
    throw failure;
  }
}

export class CallTargets<Failure extends FailedAttempt> implements PlaceListener {
  readonly #call: Held;
  readonly #plan: AttemptPlan<Failure>;
  readonly #endMs: number;
  /** The request as planned for the call's first target and credential; null: it was used. */
  #first: UpstreamCall | null;
  readonly #firstUpstream: Target['upstream'];
  #place: TargetPlace | null = null;
  #tracked: TrackedAttempt | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #onPlace: ((isIn: boolean) => void) | null = null;
  /** Why a target could not serve this request; told if no attempt is made. */
  #skipped: CallFailure | null = null;
  /** A target had no place for the call. */
  #wasFull = false;
  #isOver = false;

  /** `first`: the request as planned for `call.target`; null: it is not planned yet. */
  constructor(
    call: Held,
    first: UpstreamCall | null,
    candidates: readonly Candidate[] = call.candidates,
    routing: PlannedCall['routing'] = call.route.routing,
  ) {
    const { target, deps } = call;
    this.#call = call;
    this.#first = first;
    this.#firstUpstream = target.upstream;
    this.#endMs = call.startMs + (target.upstream.timeouts?.totalMs ?? Number.POSITIVE_INFINITY);
    this.#plan = new AttemptPlan<Failure>(deps.routing, candidates, {
      route: call.route,
      routing,
      workspace: call.principal.workspaceId,
      isStream: call.facts.stream,
      requestBytes: call.outline.bytes.length,
      endMs: this.#endMs,
    });
  }

  /** The present attempt: its reason, its credential, and when it is overdue. */
  get plan(): AttemptPlan<Failure> {
    return this.#plan;
  }

  /** When a later attempt must end, on the `performance.now()` clock; null: the first has all of its time. */
  get laterEndMs(): number | null {
    return this.#plan.made > 1 && Number.isFinite(this.#endMs) ? this.#endMs : null;
  }

  /** Why the present attempt goes where it goes, for its row; null: to the first target in order, without a wait. */
  describeChoice(waitMs: number): AttemptChoice | null {
    const { credential: index, made, why } = this.#plan;
    const credential = this.#call.target.upstream.credentials[index]?.name ?? 'default';
    const isPlain = made === 1 && why === 'order' && credential === 'default' && waitMs === 0;
    return isPlain ? null : { why, credential, waitMs };
  }

  /** The first request. Synchronous where a target is ready. */
  begin(): NextRequest<Failure> | Promise<NextRequest<Failure>> {
    return this.#follow(this.#plan.begin(performance.now()));
  }

  /** The present attempt failed before its first content: the next request. */
  failed(failure: Failure): NextRequest<Failure> | Promise<NextRequest<Failure>> {
    this.#leave();
    return this.#follow(this.#plan.failed(failure, performance.now()));
  }

  /** The present attempt failed before its first content, and another one of the call goes on. */
  lost(failure: Failure): void {
    this.#leave();
    this.#plan.lost(failure, performance.now());
  }

  /** The head of an answer has arrived. */
  onHead(head: Pick<ResponseHead, 'headers' | 'status'>): void {
    const { upstream } = this.#call.target;
    if (upstream.credentials.length > 1) this.#tracked?.onHead(head.headers, performance.now(), Date.now());
    // A gateway before the provider answers with these, and knows no limits.
    else if (head.status < 500) {
      this.#call.deps.choice.headroom.lastAnswers.set(upstream.key, { head, nowMs: performance.now() });
    }
  }

  /** The first content, or the whole of a plain answer; its head came at `headAtMs`, 0: unknown. */
  answered(headAtMs: number): void {
    const nowMs = performance.now();
    this.#plan.answered(Math.max(0, (headAtMs === 0 ? nowMs : headAtMs) - this.#plan.begunMs), nowMs);
    this.#tracked?.onAnswer(nowMs);
  }

  /** The end of an answer; `isCut`: before its own end. */
  ended(isCut: boolean): void {
    this.#plan.ended(isCut, performance.now());
    this.#leave();
  }

  /** The end of a stream; `failure`: the call's, null: it was complete. */
  closed(failure: CallFailure | null): void {
    if (failure === null) this.ended(false);
    else if (FAILURE_KINDS[failure.kind].origin === 'upstream') this.ended(true);
    else this.abandoned();
  }

  /** The client left, or the gateway ends the call. A wait for a place or a pause ends without a result. */
  abandoned(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#onPlace = null;
    this.#plan.abandoned(performance.now());
    this.#leave();
  }

  /** Gives back what the attempt holds. */
  #leave(): void {
    this.#place?.leave();
    this.#place = null;
    this.#tracked?.onEnd();
    this.#tracked = null;
  }

  #follow(step: Step): NextRequest<Failure> | Promise<NextRequest<Failure>> {
    if (step === 'end') return this.#end();
    if (step === 'wait')
      return this.#wait(this.#plan.untilMs).then(() => this.#follow(this.#plan.resume(performance.now())));
    const { target } = this.#plan;
    if (target === null) throw new Error('an attempt begins without a target');
    const isSame = target.upstream === this.#call.target.upstream;
    return isSame && target.maxConcurrency === null ? this.#prepare(target) : this.#moveTo(target, isSame);
  }

  /** Takes a place at the target and moves the call's money there. */
  async #moveTo(target: Target, isSame: boolean): Promise<NextRequest<Failure>> {
    if (target.maxConcurrency !== null) {
      if (!(await this.#enter(target))) {
        this.#wasFull = true;
        return this.#skip(null);
      }
      this.#plan.sent(performance.now());
    }
    if (!isSame) {
      const { principal, atMs, deps } = this.#call;
      const adapted = adaptTarget(target, principal.workspaceId, atMs, deps.refusedMembers);
      try {
        if (!(await switchTarget(this.#call, adapted))) return this.#skip(null);
      } catch (failure) {
        return this.#skip(failure);
      }
      if (this.#isOver) return this.#never();
    }
    return this.#prepare(target);
  }

  #prepare(target: Target): NextRequest<Failure> | Promise<NextRequest<Failure>> {
    const call = this.#call;
    const { credential, why } = this.#plan;
    const isFirst = target.upstream === this.#firstUpstream && credential === call.credential;
    let request = isFirst ? this.#first : null;
    this.#first = null;
    call.credential = credential;
    try {
      request ??= planCall(call, call.folded);
    } catch (failure) {
      return this.#skip(failure);
    }
    call.dropped = request.dropped;
    if (call.routed !== null && TrackedAttempt.isNeeded(call.routed, target)) {
      this.#tracked = new TrackedAttempt(call.deps.choice, call.routed, target, credential, why);
    }
    return request;
  }

  /** Goes on without the target. `failure`: why it cannot serve the request; null: it has no place or is too dear. */
  #skip(failure: unknown): NextRequest<Failure> | Promise<NextRequest<Failure>> {
    if (failure !== null && !(failure instanceof CallFailure)) throw failure;
    if (this.#isOver) return this.#never();
    this.#leave();
    this.#skipped ??= failure;
    return this.#follow(this.#plan.skip(performance.now()));
  }

  /** Whether the call has a place; false: the target and its queue are full, or the wait was too long. */
  #enter(target: Target): Promise<boolean> {
    const { deps, route, principal } = this.#call;
    const nowMs = performance.now();
    const place = deps.choice.queues.enter(route.model, target, principal.workspaceId, nowMs, this);
    if (place === null) return Promise.resolve(false);
    this.#place = place;
    if (place.state === 'open') return Promise.resolve(true);
    return new Promise((resolve) => {
      this.#onPlace = (isIn) => {
        this.#onPlace = null;
        if (this.#timer !== null) clearTimeout(this.#timer);
        this.#timer = null;
        resolve(isIn);
      };
      this.#timer = setTimeout(() => this.#onPlace?.(false), place.untilMs - nowMs);
    });
  }

  onPlace(): void {
    this.#onPlace?.(true);
  }

  #wait(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(
        () => {
          this.#timer = null;
          resolve();
        },
        Math.max(0, untilMs - performance.now()),
      );
    });
  }

  /** The call is over: no one waits for the result. */
  #never(): Promise<never> {
    return new Promise(() => undefined);
  }

  #end(): NoTarget<Failure> {
    const { best, refusal, retryAfterMs } = this.#plan;
    this.#call.unavailable = unavailableTargets(this.#call, best === null);
    const inMs = this.#wasFull ? FULL_MS : retryAfterMs;
    const retryAfterSeconds = inMs === null ? null : Math.min(RETRY_SECONDS_MAX, Math.max(1, Math.ceil(inMs / 1_000)));
    if (best !== null) return { kind: 'no_target', best, refusal: null, retryAfterSeconds };
    const why = this.#wasFull ? null : refusal;
    const told = this.#skipped ?? refusalOf(why, retryAfterSeconds);
    return { kind: 'no_target', best: null, refusal: told, retryAfterSeconds };
  }
}

/** Passes on the result with its waiting time, ms, or the fault that prevents it. At once where nothing waits. */
export function whenPrepared<Next>(
  prepare: () => Next | Promise<Next>,
  take: (next: Next, waitMs: number) => void,
  onFault: (fault: unknown) => void,
): void {
  let next: Next | Promise<Next>;
  try {
    next = prepare();
  } catch (fault) {
    onFault(fault);
    return;
  }
  if (!(next instanceof Promise)) {
    take(next, 0);
    return;
  }
  const sinceMs = performance.now();
  next.then((late) => take(late, Math.round(performance.now() - sinceMs)), onFault);
}

/** The failure of a call for which no attempt could be made, by `AttemptPlan.refusal`. */
const REFUSALS: { readonly [refusal in FailureClass]?: readonly [FailureKind, string] } = {
  rate: ['upstream_rate_limited', 'all providers of the model limit the rate of calls; try again later'],
  quota: ['upstream_credential', "the providers of the model refuse this gateway's credentials"],
  credential: ['upstream_credential', "the providers of the model refuse this gateway's credentials"],
  config: ['upstream_misconfigured', 'no provider of the model knows it as configured'],
  timeout: ['upstream_timeout', 'the time of the call was over before it could be sent'],
};
const FULL = ['targets_full', 'no target of the model can take the call now; try again shortly'] as const;
const FULL_MS = 1_000;
const RETRY_SECONDS_MAX = 60;

function refusalOf(refusal: FailureClass | null, retryAfterSeconds: number | null): CallFailure {
  const [kind, message] = (refusal === null ? undefined : REFUSALS[refusal]) ?? FULL;
  const isPause = kind === 'upstream_rate_limited' || kind === 'targets_full';
  const details = isPause ? { retryAfterSeconds: retryAfterSeconds ?? FULL_MS / 1_000 } : {};
  return new AttemptFailure(kind, refusal ?? 'overloaded', message, details);
}
