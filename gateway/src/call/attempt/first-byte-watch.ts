/**
 * Watches an attempt for its first byte, where it is known how long its target usually takes: a target that is overdue
 * counts as failing, and its calls move on once it is switched off. Source: design of routing, section 4.
 */
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';

type WatchedPlan = Pick<AttemptPlan, 'begunMs' | 'isLimp' | 'limpFirstByteMs' | 'overdueAtMs' | 'overdue'>;

/** The attempt that is watched. */
export interface WatchedAttempt {
  /** No byte of an answer has come yet. */
  readonly isSilent: boolean;
  /** What its provider may bill of it, in nano-USD; null: nothing. */
  readonly atRisk: bigint | null;
  /** It is to end. */
  onLate(): void;
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

  constructor(plan: WatchedPlan, attempt: WatchedAttempt) {
    this.#plan = plan;
    this.#attempt = attempt;
  }

  /** Starts with an attempt that was just sent. `dueMs`: by `firstByteDueMs`. */
  start(dueMs: number): void {
    this.dueMs = dueMs;
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
    const againMs = this.#plan.isLimp ? null : this.#plan.overdue(this.#attempt.atRisk, nowMs);
    if (againMs === null) {
      this.stop();
      this.#attempt.onLate();
    } else if (againMs === Number.POSITIVE_INFINITY) this.stop();
    else this.dueMs = againMs;
  }
}
