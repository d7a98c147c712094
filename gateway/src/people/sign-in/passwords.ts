/** Hashes and verifies passwords with argon2id, on other threads. Limits concurrency; excess callers get `too_many`. */
import { PeopleFailure } from '../people-failure.ts';

/** Runs work when a slot is free. Rejects with PeopleFailure `too_many` where too many callers are waiting. */
type InTurn = <Outcome>(work: () => Promise<Outcome>) => Promise<Outcome>;

export function createTurns(atOnceMax: number, waitingMax: number): InTurn {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax) {
        throw new PeopleFailure('too_many', 'too many sign-ins at the moment; try again in a few seconds', {
          retryAfterSeconds: 5,
        });
      }
      // The finished work hands its slot to the next caller, so `running` does not change.
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

/**
 * OWASP's first choice: 19 MiB, two passes.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html (read 2026-11-21).
 */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 200;

/** Limits the memory and time that a flood of sign-ins takes, from any number of addresses. */
const inTurn = createTurns(4, 64);

/** The hash of a password, including its salt and cost parameters. @throws PeopleFailure `too_many` */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, ARGON2ID));
}

/** Whether the password matches a hash. @throws PeopleFailure `too_many` */
export function isPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash));
}
