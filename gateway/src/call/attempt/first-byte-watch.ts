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

export class FirstByteWatch implements Deadline {
  dueMs = Number.POSITIVE_INFINITY;
  slot = UNWATCHED;
  readonly #plan: WatchedPlan;
  readonly #attempt: WatchedAttempt;

  constructor(plan: WatchedPlan, attempt: WatchedAttempt) {
    this.#plan = plan;
    this.#attempt = attempt;
  }

  /** Starts with an attempt that was just sent. */
  start(): void {
    const nowMs = performance.now();
    const limpMs = this.#plan.limpFirstByteMs(nowMs);
    this.dueMs = limpMs === null ? this.#plan.overdueAtMs(nowMs) : this.#plan.begunMs + limpMs;
    if (this.dueMs < Number.POSITIVE_INFINITY && this.slot === UNWATCHED) watchDeadline(this);
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
