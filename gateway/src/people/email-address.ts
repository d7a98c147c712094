/** Compares email addresses, and names what makes a user's address unique. */
import type { PersonRow } from '../store/ports/people.ts';
import { PeopleFailure } from './people-failure.ts';

/**
 * The address as it is kept and compared: lower case. Null: it holds a space, a control character or one outside ASCII. Such a
 * character can look like another one, or becomes another one by NFKC or case folding (full-width letters, U+212A KELVIN SIGN,
 * U+017F LONG S), so an address with it is refused instead of taken for the one that it resembles. What is left, NFKC does not
 * change, and case folding is lower case.
 */
export function readEmail(given: unknown): string | null {
  return typeof given === 'string' && /^[!-~]+@[!-~]+$/.test(given) ? given.toLowerCase() : null;
}

/** As `readEmail`. @throws PeopleFailure `invalid` where that answers null */
export function requireEmail(given: string): string {
  const email = readEmail(given);
  if (email !== null) return email;
  throw new PeopleFailure(
    'invalid',
    'email: found a character outside of ASCII, or no @; expected an address in plain letters, such as ada@example.com',
    { member: 'email' },
  );
}

/** The members of a user's row about the address. `account`: null for a verified user, else the only one that they can join. */
export function emailColumns(
  email: string,
  account: string | null,
): Pick<PersonRow, 'email' | 'unique_email' | 'email_verified' | 'account'> {
  if (account === null) return { email, unique_email: email, email_verified: 1, account };
  return { email, unique_email: `${email} ${account}`, email_verified: 0, account };
}

/**
 * What the library behind sign-in is given as the address of one user. It looks users up by address and takes an address for
 * one user; which user is meant is decided before it is asked. In hex, since it turns addresses to lower case; RFC 2606 keeps
 * `.invalid` from being anybody's.
 */
export function emailOfPerson(id: string): string {
  return `${Buffer.from(id).toString('hex')}@person.invalid`;
}

/** The id that an answer of `emailOfPerson` stands for; null: it is none. */
export function personOfEmail(email: string): string | null {
  const [, hex] = /^([0-9a-f]+)@person\.invalid$/.exec(email) ?? [];
  return hex === undefined ? null : Buffer.from(hex, 'hex').toString();
}
