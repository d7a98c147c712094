/** Owns that whoever is to get a new way in proves anew who he is: by his password, or by a sign-in of just now where he has none. */
import type { PeopleStore } from '../store/people-port.ts';
import { type Attempts, addressSubject, personSubject } from './attempts.ts';
import type { Caller } from './credentials.ts';
import { isPassword } from './passwords.ts';
import { PeopleFailure } from './people-failure.ts';

/** `password` null: none was given. @throws PeopleFailure `wrong_credential`, `forbidden` where the sign-in is too old, `too_many` */
export type FreshProof = (who: Caller, password: string | null) => Promise<void>;

interface ProofParts {
  readonly people: PeopleStore;
  readonly attempts: Attempts;
  nowMs(): number;
}

const FRESH_MS = 10 * 60_000;

export function createFreshProof({ people, attempts, nowMs }: ProofParts): FreshProof {
  return async ({ signedIn: { person, session }, arrival }, password) => {
    const [method] = await people.find('sign_in_method', {
      where: [
        ['person', 'is', person.id],
        ['password_hash', 'is not', null],
      ],
    });
    const hash = method?.password_hash ?? null;
    if (hash === null) {
      if (nowMs() - session.created_at_ms <= FRESH_MS) return;
      throw new PeopleFailure(
        'forbidden',
        'you have no password to prove who you are; sign out, sign in again, and do this within 10 minutes',
      );
    }
    const bySubject = personSubject(person.id);
    const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
    const isRight = password !== null && (await isPassword(password, hash).catch(withdrawn(attempt.withdraw)));
    if (!isRight) throw new PeopleFailure('wrong_credential', 'the password is not right', { member: 'password' });
    attempt.succeed([bySubject.name]);
  };
}

/** A fault of ours is no failure of his. */
function withdrawn(withdraw: () => void): (fault: unknown) => never {
  return (fault) => {
    withdraw();
    throw fault;
  };
}
