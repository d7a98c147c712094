/** Chooses which failure of a call's attempts the client hears: the best, not the last. Design of routing, section 3. */
import { FAILURES, type FailureClass } from './health/failure-table.ts';
import type { AttemptFailure } from './planned-call.ts';

/** The rank of failures that the caller causes. */
const CALLERS_RANK = 0;

/** Classes whose failures are no answer of the provider. */
const UNANSWERED: ReadonlySet<FailureClass> = new Set(['unreached', 'reset', 'timeout', 'client']);

export class BestFailure<Failure extends AttemptFailure> {
  #best: Failure | null = null;
  #rate: Failure | null = null;
  #isAllRate = true;

  note(failure: Failure): void {
    if (failure.class === 'rate') this.#rate = failure;
    else if (!UNANSWERED.has(failure.class)) this.#isAllRate = false;
    // Of equal ones the last: its usage is the record's, as that of a call with one attempt.
    if (this.#best === null || FAILURES[failure.class].rank <= FAILURES[this.#best.class].rank) this.#best = failure;
  }

  /**
   * A refusal of the caller's request; else a rate limit, if every provider that answered limits the rate; else the
   * lowest rank. Null: nothing failed.
   */
  get best(): Failure | null {
    const best = this.#best;
    if (best === null || this.#rate === null || !this.#isAllRate) return best;
    return FAILURES[best.class].rank === CALLERS_RANK ? best : this.#rate;
  }
}
