/** Owns the rows that make somebody a person who signs in by password. */
import { generateId } from '../identity/key-format.ts';
import type { PeopleChange } from '../store/people-port.ts';
import { emailColumns } from './email-address.ts';
import { hashPassword } from './passwords.ts';

export interface NewPerson {
  readonly id: string;
  readonly changes: readonly PeopleChange[];
}

export interface NewPersonGiven {
  readonly name: string;
  /** As `readEmail` answers it. */
  readonly email: string;
  readonly password: string;
  /** Null: the address is verified. Else the account that invited it. */
  readonly account: string | null;
}

export async function makePerson({ name, email, password, account }: NewPersonGiven, atMs: number): Promise<NewPerson> {
  const id = generateId('person');
  const times = { created_at_ms: atMs, updated_at_ms: atMs };
  const password_hash = await hashPassword(password);
  return {
    id,
    changes: [
      {
        of: 'person',
        insert: { id, name, ...emailColumns(email, account), second_factor: 0, seen_at_ms: atMs, ...times },
      },
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
