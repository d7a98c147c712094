/** Owns whether the process takes one more call at all. The caller's own limits are asked later, once his call is known. */
import type { Capacity } from '../admission/capacity.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Gate } from './gate.ts';

/** Lets a call in, before its body is read. Throws `draining`, `store_away` or `over_capacity`, each a 503. */
export function admit(gate: Gate): CallPlace {
  if (gate.draining) {
    throw new CallFailure('draining', 'the gateway is shutting down; try again', {
      retryAfterSeconds: 2,
      closeConnection: true,
    });
  }
  if (!gate.recorder.writable()) {
    throw new CallFailure('store_away', 'calls cannot be recorded at the moment; try again shortly', {
      retryAfterSeconds: 2,
    });
  }
  if (gate.capacity.openCalls.isFull) throw tooManyCalls();
  return new CallPlace(gate.capacity);
}

/** What one call takes of the calls that there may be. A body that arrives slowly takes none, so that nobody is shut out by it. */
export class CallPlace {
  readonly #capacity: Capacity;
  #isOpen = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
    capacity.present.take(1);
  }

  /** The body is here: the call begins. Throws `over_capacity`. */
  open(): void {
    if (!this.#capacity.openCalls.take(1)) throw tooManyCalls();
    this.#isOpen = true;
  }

  /** Once, when nothing of the call runs any more. */
  leave(): void {
    this.#capacity.present.give(1);
    if (this.#isOpen) this.#capacity.openCalls.give(1);
  }
}

function tooManyCalls(): CallFailure {
  // A client that waits for its next try would keep a descriptor meanwhile.
  return new CallFailure('over_capacity', 'the gateway has too many calls open; try again shortly', {
    retryAfterSeconds: 1,
    closeConnection: true,
  });
}
