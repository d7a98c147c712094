/** Owns the rows that make somebody a person who signs in by password. */
import { generateId } from '../identity/key-format.ts';
import type { PeopleChange } from '../store/people-port.ts';
import { hashPassword } from './passwords.ts';

export interface NewPerson {
  readonly id: string;
  readonly changes: readonly PeopleChange[];
}

/** `email` in lower case. */
export async function makePerson(
  { name, email, password }: { readonly name: string; readonly email: string; readonly password: string },
  atMs: number,
): Promise<NewPerson> {
  const id = generateId('person');
  const times = { created_at_ms: atMs, updated_at_ms: atMs };
  const password_hash = await hashPassword(password);
  return {
    id,
    changes: [
      { of: 'person', insert: { id, name, email, email_verified: 0, second_factor: 0, seen_at_ms: atMs, ...times } },
      {
        of: 'sign_in_method',
        insert: {
          id: generateId('method'),
          person: id,
          provider: 'credential',
          subject: id,
          scope: null,
          password_hash,
          ...times,
        },
      },
    ],
  };
}
