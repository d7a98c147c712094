/** Normalizes email addresses for comparison, and builds the columns that keep a user's address unique. */

import { ConsoleFailure } from '../errors/console-failure.ts';
import type { PersonRow } from '../store/ports/people.ts';

/**
 * The normalized address, lower case, for storage and comparison. Null: it contains a space, a control character or a
 * non-ASCII character. Such a character can look like another one, or become another one by NFKC or case folding
 * (full-width letters, U+212A KELVIN SIGN, U+017F LONG S), so the address is refused rather than treated as the one it
 * resembles. NFKC leaves accepted addresses unchanged, and case folding equals lower-casing.
 */
export function readEmail(given: unknown): string | null {
  return typeof given === 'string' && /^[!-~]+@[!-~]+$/.test(given) ? given.toLowerCase() : null;
}

/** Like `readEmail`. @throws ConsoleFailure `invalid` where that returns null */
export function requireEmail(given: string): string {
  const email = readEmail(given);
  if (email !== null) return email;
  throw new ConsoleFailure(
    'invalid',
    'email: found a non-ASCII character, or no @; expected an address such as ada@example.com',
    { member: 'email' },
  );
}

/** The email columns of a user's row. `account`: null for a verified user, else the only account that they can join. */
export function emailColumns(
  email: string,
  account: string | null,
): Pick<PersonRow, 'email' | 'unique_email' | 'email_verified' | 'account'> {
  if (account === null) return { email, unique_email: email, email_verified: 1, account };
  return { email, unique_email: `${email} ${account}`, email_verified: 0, account };
}

/**
 * The address of one user as passed to the sign-in library, which looks users up by address and expects one user per
 * address; our code picks the user first. In hex, since the library lower-cases addresses; RFC 2606 reserves
 * `.invalid`, so no real address matches.
 */
export function emailOfPerson(id: string): string {
  return `${Buffer.from(id).toString('hex')}@person.invalid`;
}

/** The user id encoded by `emailOfPerson`; null: the address does not come from it. */
export function personOfEmail(email: string): string | null {
  const [, hex] = /^([0-9a-f]+)@person\.invalid$/.exec(email) ?? [];
  return hex === undefined ? null : Buffer.from(hex, 'hex').toString();
}
