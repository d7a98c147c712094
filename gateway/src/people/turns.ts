/** Owns that costly work runs a few at a time: some wait for their turn, more are sent away. */
import { PeopleFailure } from './people-failure.ts';

/** Runs work when it is its turn. Rejects with PeopleFailure `too_many` where too many wait already. */
export type InTurn = <Outcome>(work: () => Promise<Outcome>) => Promise<Outcome>;

export function createTurns(atOnceMax: number, waitingMax: number): InTurn {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax) {
        throw new PeopleFailure('too_many', 'too many people sign in at this moment; try again in a few seconds', {
          retryAfterSeconds: 5,
        });
      }
      // The place is handed over, never given back in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
