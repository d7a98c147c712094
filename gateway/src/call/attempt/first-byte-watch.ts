/**
 * Watches an attempt for its first byte, where it is known how long its target usually takes: a target that is overdue
 * counts as failing, and its calls move on once it is switched off. Source: design of routing, section 4.
 */
import type { CallFailure } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';
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
export function firstByteDueMs(plan: WatchedPlan, nowMs: number): number {
  const limpMs = plan.limpFirstByteMs(nowMs);
  return limpMs === null ? plan.overdueAtMs(nowMs) : plan.begunMs + limpMs;
}

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
