/**
 * Decides which attempt a call makes next, as a state machine without sockets or timers: the attempt loop and the
 * simulation drive it. Tells the states of targets and credentials what became of each attempt. Source: design of
 * routing, sections 3 and 6.
 */
import { CallTroubles } from './call-troubles.ts';
import { type Choice, findCandidate, findPauses, isAnyClosed, type Pauses } from './candidate-walk.ts';
import { FAILURES, type FailureClass, type FailureRow } from './health/failure-table.ts';
import type { RoutingState } from './health/routing-state.ts';
import type { AttemptFacts, Probes, UpstreamHealth } from './health/target-health.ts';
import type { AttemptFailure, AttemptWhy, PlanCandidate, PlannedCall, Step } from './planned-call.ts';
import type { Target } from './route.ts';

/** No attempt begins with less time left. */
const LEFT_MIN_MS = 1_000;
/** The longest that a call waits for paused credentials, in all. */
const WAIT_MAX_MS = 5_000;
const BACKOFFS_MAX = 2;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 4_000;
/** Extra attempts while no target is closed. */
const EXTRA_UNHEALTHY = 1;
/** Overdue attempts ask again after this time, so that they leave a dead target one after another. */
const OVERDUE_AGAIN_MS = 1_000;

/** The attempts of one call, one at a time. */
export class AttemptPlan<Failure extends AttemptFailure = AttemptFailure> implements AttemptFacts {
  readonly #state: RoutingState;
  readonly #candidates: readonly PlanCandidate[];
  readonly #call: PlannedCall;

  /** The present attempt, after `try`. */
  target: Target | null = null;
  credential = 0;
  why: AttemptWhy = 'order';
  begunMs = 0;
  isLimp = false;
  /** It needs a new connection: the one before was closed without an answer. */
  isFresh = false;
  isOverdue = false;
  probes: Probes = 0;
  /** Attempts begun so far. */
  made = 0;
  #health: UpstreamHealth | null = null;
  #ttfbMs = 0;
  /** Null: nothing failed, and nothing was waited for. */
  #past: CallTroubles<Failure> | null = null;

  /** `candidates`: as `choose` returns them, at least one. */
  constructor(state: RoutingState, candidates: readonly PlanCandidate[], call: PlannedCall) {
    this.#state = state;
    this.#candidates = candidates;
    this.#call = call;
  }

  /** The failure to tell, after `end`; null: no attempt was made. */
  get best(): Failure | null {
    return this.#past?.best ?? null;
  }

  /** When to call `resume`, after `wait`. */
  get untilMs(): number {
    return this.#troubles.untilMs;
  }

  /**
   * Why no attempt was made, after `end`. `rate`: all credentials pause; `quota`, `credential`, `config`: benched;
   * `timeout`: no time was left; `overloaded`: every target was skipped.
   */
  get refusal(): FailureClass | null {
    return this.#troubles.refusal;
  }

  /** After `end`: when the first paused credential comes back, in milliseconds from then; null: none pauses. */
  get retryAfterMs(): number | null {
    return this.#troubles.retryAfterMs;
  }

  get isSuspect(): boolean {
    return this.#past?.isSuspect ?? false;
  }

  get #troubles(): CallTroubles<Failure> {
    this.#past ??= new CallTroubles();
    return this.#past;
  }

  get workspace(): string {
    return this.#call.workspace;
  }

  get isStream(): boolean {
    return this.#call.isStream;
  }

  get requestBytes(): number {
    return this.#call.requestBytes;
  }

  /** The first step. */
  begin(nowMs: number): Step {
    const notBeforeMs = this.#candidates[0]?.notBeforeMs ?? 0;
    if (notBeforeMs > nowMs && notBeforeMs + LEFT_MIN_MS < this.#call.endMs) return this.#wait(notBeforeMs, nowMs);
    return this.#go(nowMs, false);
  }

  /** The step after a wait. */
  resume(nowMs: number): Step {
    const { retry } = this.#troubles;
    this.#troubles.retry = null;
    if (retry === null) return this.#go(nowMs, this.made > 0);
    return this.#hasTime(nowMs) ? this.#start(retry, 'retry', true, nowMs) : this.#end(nowMs);
  }

  /** Notes that the request leaves only now, for example after a wait for a place. */
  sent(nowMs: number): void {
    this.begunMs = nowMs;
  }

  /** Gives up the attempt before it was sent, and its target for the whole call; the next step. */
  skip(nowMs: number): Step {
    const { target } = this;
    this.abandoned(nowMs);
    this.made -= 1;
    if (target !== null) this.#troubles.barred.bar(target, null);
    return this.#go(nowMs, this.made > 0);
  }

  /** Notes the first content, or a whole plain answer; `ttfbMs`: from `sent` to the first byte. Nothing is tried again. */
  answered(ttfbMs: number, nowMs: number): void {
    this.#ttfbMs = ttfbMs;
    this.#health?.noteAnswer(this, ttfbMs, nowMs);
    // What comes after the first content is no longer a probe.
    this.probes = 0;
  }

  /** Notes the end of an attempt that was answered; `isCut`: before its own end. */
  ended(isCut: boolean, nowMs: number): void {
    const health = this.#health;
    if (health === null) return;
    if (isCut) health.noteFailure('cut', null, this, nowMs);
    else health.noteComplete(this, this.#ttfbMs, nowMs);
    this.#close(health);
  }

  /** Ends the attempt without a judgement: the client left, or the gateway failed. Safe to call more than once. */
  abandoned(nowMs: number): void {
    const health = this.#health;
    if (health === null) return;
    health.noteFailure('client', null, this, nowMs);
    this.#close(health);
  }

  /** Notes the failure of the attempt before its first content, where another plan's attempt goes on. */
  lost(failure: Failure, nowMs: number): void {
    this.#noteFailed(failure, nowMs);
  }

  /** Notes the failure of another plan's attempt of the same call: its target is left out from now on. */
  leaveOut(target: Target, failure: Failure): void {
    this.#troubles.note(failure);
    this.#troubles.barred.bar(target, null);
  }

  /** Whether the attempt, which the provider may bill, leaves money for another beside it. `atRisk`: as in a failure. */
  allowsAnother(atRisk: bigint | null): boolean {
    return this.#riskAllows(atRisk, (this.#past?.atRisk ?? 0n) + (atRisk ?? 0n));
  }

  #noteFailed(failure: Failure, nowMs: number): UpstreamHealth {
    const health = this.#health;
    if (health === null) throw new Error('no attempt is under way');
    this.#noteFault(failure, health, this.#troubles, nowMs);
    this.#close(health);
    this.#troubles.note(failure);
    return health;
  }

  /** Notes the failure of the attempt before its first content; the next step. */
  failed(failure: Failure, nowMs: number): Step {
    const { target, credential } = this;
    if (target === null) throw new Error('no attempt is under way');
    const health = this.#noteFailed(failure, nowMs);
    const troubles = this.#troubles;
    const row = FAILURES[failure.class];
    const isRepeatable = row.same === 'at_once' && troubles.atOnce !== target;
    // A closed idle connection says nothing of a dear request: its first repetition is not measured by its cost.
    const isIdleClosed = isRepeatable && failure.class === 'reset' && this.#call.routing.uncertainRetry > 0n;
    if (!isIdleClosed && !this.#mayGoOn(failure.atRisk, row)) return this.#end(nowMs);

    const same: Choice = { target, credential, health, verdict: health.verdict(credential, nowMs) };
    if (isRepeatable) {
      troubles.atOnce = target;
      const isPaid = !this.#isAnyClosed();
      if (this.#hasTime(nowMs) && (!isPaid || health.target.takeRetry(nowMs))) {
        const step = this.#start(same, 'retry', isPaid, nowMs);
        this.isFresh = true;
        return step;
      }
    }
    const { barred } = troubles;
    if (failure.class === 'overflow') barred.outgrow(target);
    // A paused credential is not barred: it may be waited for.
    if (failure.class === 'rate') barred.barOrganisation(target, credential);
    else barred.bar(target, row.next === 'target' ? null : credential);
    return this.#go(nowMs, true, row.same === 'in_budget' ? same : null, failure.pauseMs);
  }

  /** When to call `overdue` if no byte of the answer has come by then; Infinity: never. */
  overdueAtMs(nowMs: number): number {
    return this.#health === null ? Number.POSITIVE_INFINITY : this.begunMs + this.#health.overdueMs(this, nowMs);
  }

  /**
   * Notes that no byte of the answer has come by `overdueAtMs`. Null: end the attempt as `failed` with class `timeout`,
   * because its target was switched off meanwhile and another one can be used; else when to ask again. `atRisk`: as in
   * `failed`.
   */
  overdue(atRisk: bigint | null, nowMs: number): number | null {
    const health = this.#health;
    if (health === null) return Number.POSITIVE_INFINITY;
    if (!this.isOverdue) {
      this.isOverdue = true;
      this.#keepFault(health, health.noteOverdue(this, nowMs));
    }
    const wasOff = !health.target.isClosed || health.target.hasChangedSince(this.begunMs);
    const mayMove = wasOff && this.allowsAnother(atRisk) && this.#extraLeft();
    if (mayMove && this.#find(nowMs, this.target)?.verdict === 'usable') return null;
    return nowMs + OVERDUE_AGAIN_MS;
  }

  /**
   * The time limit of the first byte while no target is usable, in milliseconds; null: the usual one holds. Waiting long
   * for a target that is probably dead only piles up calls.
   */
  limpFirstByteMs(nowMs: number): number | null {
    if (!this.isLimp || this.#health === null) return null;
    const overdueMs = this.#health.overdueMs(this, nowMs);
    return Number.isFinite(overdueMs) ? overdueMs : null;
  }

  /** The next attempt, a wait for one, or the end. `same`: may be tried again if no other is usable. */
  #go(nowMs: number, isExtra: boolean, same: Choice | null = null, pauseMs: number | null = null): Step {
    if (!this.#hasTime(nowMs)) {
      this.#troubles.refusal = 'timeout';
      return this.#end(nowMs);
    }
    const isPaid = isExtra && !this.#isAnyClosed();
    const found = this.#find(nowMs);
    const isUsable = found !== null && (found.verdict === 'usable' || found.verdict === 'probe');
    if (!isUsable && same !== null && same.health.target.isClosed) {
      const step = this.#backOff(same, pauseMs, nowMs);
      if (step !== null) return step;
    }
    if (found !== null && (!isPaid || found.health.target.takeRetry(nowMs))) {
      return this.#start(found, this.#whyOf(found, isExtra), isPaid, nowMs);
    }
    if (found === null && same !== null && !same.health.target.isClosed) {
      const step = this.#backOff(same, pauseMs, nowMs);
      if (step !== null) return step;
    }
    return found === null ? this.#awaitPause(nowMs, isPaid) : this.#end(nowMs);
  }

  /** Waits for the first pause to end, if it is short; else tries where the end of a pause is only guessed. */
  #awaitPause(nowMs: number, isPaid: boolean): Step {
    const { soonestMs, trial, reason } = this.#pauses(nowMs);
    const troubles = this.#troubles;
    troubles.refusal = reason;
    const leftMs = soonestMs - nowMs;
    if (troubles.waitedMs + leftMs <= WAIT_MAX_MS && soonestMs + LEFT_MIN_MS < this.#call.endMs) {
      return this.#wait(soonestMs, nowMs);
    }
    if (trial !== null && (!isPaid || trial.health.target.takeRetry(nowMs))) {
      return this.#start(trial, 'probe', isPaid, nowMs);
    }
    return this.#end(nowMs);
  }

  /** Full jitter; the provider's own pause is kept exactly. Null: the target is not tried again. */
  #backOff(same: Choice, pauseMs: number | null, nowMs: number): Step | null {
    const troubles = this.#troubles;
    const jitterMs = this.#state.draw() * Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** troubles.backoffs);
    const delayMs = Math.max(jitterMs, pauseMs ?? 0);
    if (troubles.backoffs >= BACKOFFS_MAX || delayMs > WAIT_MAX_MS) return null;
    if (nowMs + delayMs + LEFT_MIN_MS >= this.#call.endMs || !same.health.target.takeRetry(nowMs)) return null;
    troubles.backoffs += 1;
    troubles.retry = { ...same, verdict: same.health.verdict(same.credential, nowMs) };
    troubles.untilMs = nowMs + delayMs;
    return 'wait';
  }

  #wait(untilMs: number, nowMs: number): Step {
    this.#troubles.waitedMs += untilMs - nowMs;
    this.#troubles.untilMs = untilMs;
    return 'wait';
  }

  #start({ target, credential, health, verdict }: Choice, why: AttemptWhy, isPaid: boolean, nowMs: number): Step {
    this.target = target;
    this.credential = credential;
    this.why = why;
    this.begunMs = nowMs;
    this.isLimp = verdict === 'open';
    this.isOverdue = false;
    this.isFresh = false;
    this.made += 1;
    this.#health = health;
    this.probes = health.begin(credential, verdict, isPaid, nowMs);
    // A probe says nothing yet.
    if (verdict === 'usable' || this.isLimp) this.#state.noteLimp(this.#call.route.model, this.isLimp, nowMs);
    return 'try';
  }

  #whyOf({ target, verdict }: Choice, isExtra: boolean): AttemptWhy {
    if (verdict === 'open') return 'limp';
    if (verdict === 'probe') return 'probe';
    const [head] = this.#candidates;
    if (isExtra || head?.target !== target) return 'fallback';
    return isAttemptWhy(head.why) ? head.why : this.#call.routing.strategy;
  }

  #close(health: UpstreamHealth): void {
    health.end(this.credential, this.isOverdue);
    this.#health = null;
  }

  /**
   * A call that failed at two targets may itself be the cause: its faults count for neither. Where both fail all calls,
   * both are down: otherwise neither would ever be switched off.
   */
  #noteFault(failure: Failure, health: UpstreamHealth, troubles: CallTroubles<Failure>, nowMs: number): void {
    const { fault } = troubles;
    const first = fault?.health.target ?? health.target;
    troubles.isSuspect = first !== health.target && !(first.breaker.isFailing && health.target.breaker.isFailing);
    const outcome = health.noteFailure(failure.class, failure.pauseMs, this, nowMs);
    if (troubles.isSuspect && outcome >= 0) {
      health.target.breaker.takeBack(outcome);
      fault?.health.target.breaker.takeBack(fault.outcome);
    } else this.#keepFault(health, outcome);
  }

  #keepFault(health: UpstreamHealth, outcome: number): void {
    if (outcome >= 0) this.#troubles.fault ??= { health, outcome };
  }

  #end(nowMs: number): Step {
    const troubles = this.#troubles;
    troubles.refusal = troubles.best === null ? (troubles.refusal ?? 'overloaded') : null;
    const { soonestMs } = this.#pauses(nowMs);
    troubles.retryAfterMs = Number.isFinite(soonestMs) ? soonestMs - nowMs : null;
    return 'end';
  }

  #mayGoOn(atRisk: bigint | null, { next, onlyWith }: FailureRow): boolean {
    if (next === 'no' || (onlyWith !== null && !this.#call.routing.fallbackOn.includes(onlyWith))) return false;
    return this.#extraLeft() && this.#riskAllows(atRisk, this.#past?.atRisk ?? 0n);
  }

  #extraLeft(): boolean {
    const { maxExtraAttempts } = this.#call.routing;
    return this.made <= (this.#isAnyClosed() ? maxExtraAttempts : Math.min(EXTRA_UNHEALTHY, maxExtraAttempts));
  }

  /** Whether attempts that the provider may have billed leave money for another. 0: such an attempt is the last. */
  #riskAllows(atRisk: bigint | null, sum: bigint): boolean {
    const { uncertainRetry } = this.#call.routing;
    return atRisk === null || (uncertainRetry > 0n && sum <= uncertainRetry);
  }

  #find(nowMs: number, except: Target | null = null): Choice | null {
    return findCandidate(this.#state, this.#candidates, this.#past?.barred ?? null, nowMs, except);
  }

  #pauses(nowMs: number): Pauses {
    return findPauses(this.#state, this.#candidates, this.#troubles.barred, nowMs);
  }

  #isAnyClosed(): boolean {
    return isAnyClosed(this.#state, this.#candidates);
  }

  #hasTime(nowMs: number): boolean {
    return nowMs + LEFT_MIN_MS <= this.#call.endMs;
  }
}

const WHYS: ReadonlySet<string> = new Set<AttemptWhy>([
  'order',
  'weight',
  'latency',
  'price',
  'pin',
  'pin_cooling',
  'fallback',
]);

function isAttemptWhy(why: string): why is AttemptWhy {
  return WHYS.has(why);
}
