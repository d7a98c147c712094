/**
 * Finds the users of an email address who have the given password. Its duration does not reveal how many users the
 * address has.
 */
import type { PeopleStore, PersonRow } from '../../store/ports/people.ts';

/**
 * Each user costs a hash at a sign-in. One place is reserved for the verified user, so that others can't keep them out.
 */
export const USERS_PER_EMAIL_MAX = 8;
export const UNVERIFIED_PER_EMAIL_MAX = USERS_PER_EMAIL_MAX - 1;

export interface FoundUsers {
  /** The users with this password: the verified one first, then the oldest. */
  readonly users: readonly PersonRow[];
  /** Whether the address has no other user. */
  readonly isOnly: boolean;
}

/** `email`: as returned by `readEmail`. @throws PeopleFailure `too_many` */
export type FindByPassword = (email: string, password: string) => Promise<FoundUsers>;

export interface PasswordUsersParts {
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
