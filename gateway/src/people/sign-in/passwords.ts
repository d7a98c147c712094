/** Owns how passwords are kept and compared: argon2id, on threads beside the one that answers, a few at a time. */
import { PeopleFailure } from '../people-failure.ts';

/** Runs work when it is its turn. Rejects with PeopleFailure `too_many` where too many wait already. */
type InTurn = <Outcome>(work: () => Promise<Outcome>) => Promise<Outcome>;

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

/** OWASP's first choice: 19 MiB, two passes. https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html (read 2026-11-21). */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 200;

/** Bounds the memory and time of a flood of sign-ins, from however many addresses. */
const inTurn = createTurns(4, 64);

/** The hash of a password, with its salt and costs in it. @throws PeopleFailure `too_many` */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, ARGON2ID));
}

/** Whether it is the password behind a hash. @throws PeopleFailure `too_many` */
export function isPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash));
}
