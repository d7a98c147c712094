/**
 * Hashes and verifies passwords with argon2id, on other threads, and finds users by them. Limits concurrency; excess
 * callers get `too_many`.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PeopleStore, PersonRow } from '../../store/ports/people.ts';

/**
 * Each user costs a hash at a sign-in. One place is reserved for the verified user, so that others can't keep them out.
 */
export const USERS_PER_EMAIL_MAX = 8;
export const UNVERIFIED_PER_EMAIL_MAX = USERS_PER_EMAIL_MAX - 1;

interface FoundUsers {
  /** The users with this password: the verified one first, then the oldest. */
  readonly users: readonly PersonRow[];
  /** Whether the address has no other user. */
  readonly isOnly: boolean;
}

/** `email`: as returned by `readEmail`. @throws ConsoleFailure `too_many` */
export type FindByPassword = (email: string, password: string) => Promise<FoundUsers>;

interface PasswordUsersParts {
  readonly people: Pick<PeopleStore, 'find'>;
  isPassword(password: string, hash: string): Promise<boolean>;
  hashPassword(password: string): Promise<string>;
  pause(ms: number): Promise<void>;
  /** A monotonic clock. */
  steadyMs(): number;
}

/** Limits the delay that hides timing, however long a hash takes on a busy machine. */
const PAUSE_MS_MAX = 3_000;

export function createFindByPassword(parts: PasswordUsersParts): FindByPassword {
  const { people, isPassword, hashPassword, pause, steadyMs } = parts;
  return async (email, password) => {
    const all = await people.find('person', { where: [['email', 'is', email]], orderBy: ['created_at_ms', 'asc'] });
    const users = all.toSorted((one, other) => other.email_verified - one.email_verified).slice(0, USERS_PER_EMAIL_MAX);
    const methods = await people.find('sign_in_method', {
      where: [
        ['person', 'in', users.map(({ id }) => id)],
        ['provider', 'is', 'credential'],
      ],
    });
    const hashes = new Map(methods.map((method) => [method.person, method.password_hash]));
    const startMs = steadyMs();
    let hashCount = 0;
    const found: PersonRow[] = [];
    for (const user of users) {
      const hash = hashes.get(user.id) ?? null;
      if (hash === null) continue;
      hashCount += 1;
      if (await isPassword(password, hash)) found.push(user);
    }
    if (hashCount === 0) {
      hashCount = 1;
      await hashPassword(password);
    }
    if (found.length === 0) {
      const hashMs = (steadyMs() - startMs) / hashCount;
      await pause(Math.min(PAUSE_MS_MAX, hashMs * (USERS_PER_EMAIL_MAX - hashCount)));
    }
    return { users: found, isOnly: all.length === 1 };
  };
}

/** Runs work when a slot is free. Rejects with ConsoleFailure `too_many` where too many callers are waiting. */
type InTurn = <Outcome>(work: () => Promise<Outcome>) => Promise<Outcome>;

export function createTurns(atOnceMax: number, waitingMax: number): InTurn {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax) {
        throw new ConsoleFailure('too_many', 'too many sign-ins at the moment; try again in a few seconds', {
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

/** The hash of a password, including its salt and cost parameters. @throws ConsoleFailure `too_many` */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, ARGON2ID));
}

/** Whether the password matches a hash. @throws ConsoleFailure `too_many` */
export function isPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash));
}
