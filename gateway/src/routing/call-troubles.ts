/**
 * Holds what the failures and waits of one call leave behind for its next attempts. Created with the first of them: most
 * calls have none.
 */
import { Barred, type Choice } from './candidate-walk.ts';
import { CALLER, FAILURES, type FailureClass } from './health/failure-table.ts';
import type { UpstreamHealth } from './health/target-health.ts';
import { type AttemptFailure, PAUSE_MS_DEFAULT } from './planned-call.ts';
import type { Target } from './route.ts';

const pauseOf = ({ pauseMs }: AttemptFailure) => pauseMs ?? PAUSE_MS_DEFAULT;

export class CallTroubles<Failure extends AttemptFailure> {
  readonly barred = new Barred();
  /** The target that was tried once more at once; null: none was. */
  atOnce: Target | null = null;
  /** Retries of the same target after a pause. */
  backoffs = 0;
  waitedMs = 0;
  /** The estimated cost of the attempts that their providers may have billed. */
  atRisk = 0n;
  /** The retry to make after a wait, already paid for. */
  retry: Choice | null = null;
  /** The first fault of the call: it is taken back if another target fails too. */
  fault: { readonly health: UpstreamHealth; readonly outcome: number } | null = null;
  /** The call failed at two targets, so that it may itself be the cause. */
  isSuspect = false;
  /** When to call `resume`, after `wait`. */
  untilMs = 0;
  /** Why no attempt was made, after `end`; null: one was. */
  refusal: FailureClass | null = null;
  /** After `end`: when the first paused credential comes back; null: none pauses. */
  retryAfterMs: number | null = null;
  #best: Failure | null = null;
  #rate: Failure | null = null;
  #isAllRate = true;

  note(failure: Failure): void {
    const { rank, answer } = FAILURES[failure.class];
    if (failure.class === 'rate') {
      if (this.#rate === null || pauseOf(failure) < pauseOf(this.#rate)) this.#rate = failure;
    } else if (answer !== 'none') this.#isAllRate = false;
    // Of equal ones the last: its usage is the record's, as that of a call with one attempt.
    if (this.#best === null || rank <= FAILURES[this.#best.class].rank) this.#best = failure;
    if (failure.atRisk !== null) this.atRisk += failure.atRisk;
  }

  /**
   * The failure that the client hears: a refusal of its request; else the rate limit with the shortest pause, if every
   * provider that answered limits the rate; else the lowest rank. Null: nothing failed. Source: design of routing, section 3.
   */
  get best(): Failure | null {
    const best = this.#best;
    if (best === null || this.#rate === null || !this.#isAllRate) return best;
    return FAILURES[best.class].rank === CALLER ? best : this.#rate;
  }
}
