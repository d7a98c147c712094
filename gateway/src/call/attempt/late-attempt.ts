/**
 * Says what follows when an attempt is late. A target that is overdue by how long it usually takes counts as failing, and
 * its calls move on once it is switched off. Before that, a second attempt may run beside the first, at another target:
 * the first content wins. Source: routing design, sections 4 and 9.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';
import type { HedgedCall } from '../../routing/choose/hedging.ts';
import type { Target } from '../../routing/route.ts';
import { AttemptRow, type Held, setPriced, setTarget } from '../call.ts';
import type { TargetHold } from '../money/call-money.ts';
import { switchWithinHold } from '../money/switch-target.ts';
import type { PricedRequest } from '../plan/named-models.ts';
import { adaptTarget } from '../plan/refused-members.ts';
import { CallTargets } from './call-targets.ts';
import { type LostRequest, noteBeaten, riskOfWaiting } from './lost-request.ts';
import { type AttemptListener, RunningAttempt } from './running-attempt.ts';
import { AttemptFailure } from './upstream-outcome.ts';

type WatchedPlan = Pick<AttemptPlan, 'begunMs' | 'isLimp' | 'limpFirstByteMs' | 'overdueAtMs' | 'overdue'>;

/** The attempt that is watched. */
export interface WatchedAttempt {
  /** No byte of an answer has come yet. */
  readonly isSilent: boolean;
  /** What its provider may bill of it, in nano-USD; null: nothing. */
  readonly atRisk: bigint | null;
  /** It takes longer than most: another target may be faster. */
  onSlow(): void;
  /** It is to end. */
  onLate(failure: CallFailure): void;
}

/** When an attempt that was just sent is late, on the `performance.now()` clock; Infinity: never. */
function firstByteDueMs(plan: WatchedPlan, nowMs: number): number {
  const limpMs = plan.limpFirstByteMs(nowMs);
  return limpMs === null ? plan.overdueAtMs(nowMs) : plan.begunMs + limpMs;
}

/** Watches an attempt for its first byte. */
export class FirstByteWatch implements Deadline {
  dueMs = Number.POSITIVE_INFINITY;
  slot = UNWATCHED;
  readonly #plan: WatchedPlan;
  readonly #attempt: WatchedAttempt;
  #lateAtMs = Number.POSITIVE_INFINITY;
  #slowAtMs = Number.POSITIVE_INFINITY;

  constructor(plan: WatchedPlan, attempt: WatchedAttempt) {
    this.#plan = plan;
    this.#attempt = attempt;
  }

  /** Starts with an attempt that was just sent. `lateAtMs`: by `firstByteDueMs`; `slowAtMs`: Infinity: never. */
  start(lateAtMs: number, slowAtMs: number): void {
    this.#lateAtMs = lateAtMs;
    this.#slowAtMs = slowAtMs;
    this.dueMs = Math.min(lateAtMs, slowAtMs);
    if (this.slot === UNWATCHED) watchDeadline(this);
  }

  stop(): void {
    if (this.slot !== UNWATCHED) unwatchDeadline(this);
  }

  onDue(nowMs: number): void {
    if (!this.#attempt.isSilent) {
      this.stop();
      return;
    }
    if (nowMs >= this.#slowAtMs) {
      this.#slowAtMs = Number.POSITIVE_INFINITY;
      this.dueMs = this.#lateAtMs;
      if (this.dueMs === Number.POSITIVE_INFINITY) this.stop();
      this.#attempt.onSlow();
      return;
    }
    const againMs = this.#plan.isLimp ? null : this.#plan.overdue(this.#attempt.atRisk, nowMs);
    if (againMs === null) {
      this.stop();
      const message = 'the model provider did not begin to answer in time';
      this.#attempt.onLate(new AttemptFailure('upstream_timeout', 'timeout', message));
    } else if (againMs === Number.POSITIVE_INFINITY) this.stop();
    else this.dueMs = againMs;
  }
}

/** Watches an attempt that was just sent. Returns the watch of the call, for its next attempt; null: nothing is watched. */
export function watchFirstByte(
  known: FirstByteWatch | null,
  call: Held,
  plan: AttemptPlan,
  attempt: WatchedAttempt,
): FirstByteWatch | null {
  const nowMs = performance.now();
  const lateAtMs = firstByteDueMs(plan, nowMs);
  const slowAtMs = hedgeAtMs(call, plan, nowMs);
  if (Math.min(lateAtMs, slowAtMs) === Number.POSITIVE_INFINITY) {
    known?.stop();
    return known;
  }
  const watch = known ?? new FirstByteWatch(plan, attempt);
  watch.start(lateAtMs, slowAtMs);
  return watch;
}

/** What a call has of its present attempt. */
interface Lane {
  readonly target: Target;
  readonly priced: PricedRequest | null;
  readonly credential: number;
  readonly hold: TargetHold;
  readonly why: string | null;
  readonly dropped: readonly string[];
  readonly folded: boolean;
  readonly firstByteMs: number | null;
}

function laneOf(call: Held): Lane {
  const { target, priced, credential, money, why, dropped, folded, firstByteMs } = call;
  return { target, priced, credential, hold: money.hold, why, dropped, folded, firstByteMs };
}

function takeLane(call: Held, { target, priced, credential, hold, why, dropped, folded, firstByteMs }: Lane): void {
  setTarget(call, target);
  setPriced(call, priced);
  call.credential = credential;
  call.money.take(hold);
  call.why = why;
  call.dropped = dropped;
  call.folded = folded;
  call.firstByteMs = firstByteMs;
}

/** The second attempt of a call, which is in the state of one of the two at a time. */
export class Hedge {
  readonly attempt: RunningAttempt;
  readonly targets: CallTargets<LostRequest>;
  readonly #call: Held;
  /** Of the attempt that the call is not in the state of. */
  #other: Lane;
  #isIn = true;

  /** The call is in the state of the second attempt; `first`: that of the other one. */
  constructor(call: Held, first: Lane, attempt: RunningAttempt, targets: CallTargets<LostRequest>) {
    this.#call = call;
    this.#other = first;
    this.attempt = attempt;
    this.targets = targets;
  }

  /** Ends the attempt that the other one has beaten; its provider may bill it. */
  beat(loser: RunningAttempt, targets: CallTargets<LostRequest>): void {
    const beaten = new CallFailure('client_left', 'another attempt of the call answered first');
    this.enter(loser);
    noteBeaten(this.#call, loser.row, loser.broken(beaten).facts);
    loser.abort(beaten);
    targets.abandoned();
  }

  /** Puts the call into the state of one of the two attempts. */
  enter(attempt: RunningAttempt): void {
    const isIn = attempt === this.attempt;
    if (isIn === this.#isIn) return;
    this.#isIn = isIn;
    const other = laneOf(this.#call);
    takeLane(this.#call, this.#other);
    this.#other = other;
  }
}

/** When another target may get the request too, on the `performance.now()` clock; Infinity: never. */
function hedgeAtMs(call: Held, { made }: Pick<CallTargets<LostRequest>['plan'], 'made'>, nowMs: number): number {
  // What goes on in the background cannot be ended by leaving it.
  if (!call.route.routing.hedge || made !== 1 || call.facts.background === true) return Number.POSITIVE_INFINITY;
  const { choice, routing } = call.deps;
  return nowMs + choice.hedging.begin(hedgedCall(call), routing, nowMs);
}

/** The facts of a call by which its second attempt is decided. */
function hedgedCall(call: Held): HedgedCall {
  const { route, candidates, routed, target, facts, outline } = call;
  return { route, candidates, routed, target, isStream: facts.stream, requestBytes: outline.bytes.length };
}

/**
 * Prepares a second attempt, not yet sent, and puts the call into its state. Null: no other target may or can take the
 * call now, within the money that is held; nothing has changed.
 */
export function openHedge(
  call: Held,
  row: AttemptRow,
  { plan }: CallTargets<LostRequest>,
  loop: AttemptListener,
): Hedge | null {
  const { choice, routing, refusedMembers } = call.deps;
  const mayBill = riskOfWaiting(call, row);
  const candidate = choice.hedging.take(hedgedCall(call), plan.allowsAnother(mayBill), routing, performance.now());
  if (candidate === null) return null;
  const first = laneOf(call);
  const target = adaptTarget(candidate.target, call.principal.workspaceId, call.atMs, refusedMembers);
  if (!switchWithinHold(call, target)) return null;
  // The first attempt's own plan decides what follows when both fail.
  const alone = { ...call.route.routing, maxExtraAttempts: 0 };
  const targets = new CallTargets<LostRequest>(call, null, [candidate], alone);
  const request = targets.begin();
  if (request instanceof Promise || 'best' in request) {
    targets.abandoned();
    takeLane(call, first);
    return null;
  }
  call.why = 'hedge';
  call.firstByteMs = null;
  const credential = target.upstream.credentials[targets.plan.credential]?.name ?? 'default';
  const attempt = new RunningAttempt(
    call,
    request,
    new AttemptRow(call, { why: 'hedge', credential, waitMs: 0 }),
    loop,
  );
  return new Hedge(call, first, attempt, targets);
}
