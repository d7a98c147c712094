/** Owns whether the process takes one more call at all. The caller's own limits are asked later, once his call is known. */
import { CallFailure } from '../errors/call-failure.ts';
import type { Gate } from './gate.ts';

/** Takes a place, given back by the answer. Throws `draining`, `store_away` or `over_capacity`, each a 503. */
export function admit(gate: Gate): () => void {
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
  const { openCalls } = gate.capacity;
  if (!openCalls.take(1)) {
    throw new CallFailure('over_capacity', 'the gateway has too many calls open; try again shortly', {
      retryAfterSeconds: 1,
    });
  }
  return () => openCalls.give(1);
}
