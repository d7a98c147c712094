/**
 * Tests which users of an address a password finds, and that the time of a refusal does not reveal how many there are.
 */
import { expect, test } from 'bun:test';
import type { PersonRow, SignInMethodRow } from '../../store/ports/people.ts';
import { createFindByPassword, USERS_PER_EMAIL_MAX } from './passwords.ts';

const HASH_MS = 20;

/** One user for each password; null: a user without one. `verified`: which of them is verified. */
function openUsers(passwords: readonly (string | null)[], verified = -1) {
  let clockMs = 0;
  let hashCount = 0;
  const users = passwords.map((_, nth) => ({ id: `p${nth}`, email_verified: nth === verified ? 1 : 0 }) as PersonRow);
  const methods = passwords.flatMap((password, nth) =>
    password === null ? [] : [{ person: `p${nth}`, password_hash: password } as SignInMethodRow],
  );
  const hash = async () => {
    hashCount += 1;
    clockMs += HASH_MS;
    return '';
  };
  const find = createFindByPassword({
    people: { find: async (table: string) => (table === 'person' ? users : methods) as never },
    isPassword: async (password, kept) => {
      await hash();
      return password === kept;
    },
    hashPassword: hash,
    pause: async (ms) => {
      clockMs += ms;
    },
    steadyMs: () => clockMs,
  });
  return {
    find: async (password: string) => {
      const { users: found, isOnly } = await find('a@example.com', password);
      return { found: found.map(({ id }) => id), isOnly };
    },
    timing: () => ({ clockMs, hashCount }),
  };
}

test('every user with the password is found, the verified one first', async () => {
  expect(await openUsers(['x', 'y', null, 'x'], 3).find('x')).toEqual({ found: ['p3', 'p0'], isOnly: false });
  expect(await openUsers(['x']).find('x')).toEqual({ found: ['p0'], isOnly: true });
  expect(await openUsers(['x']).find('y')).toEqual({ found: [], isOnly: true });
});

test('no more than eight passwords are tried, that of the verified user among them', async () => {
  const users = openUsers(Array(12).fill('x'), 11);
  expect((await users.find('x')).found).toEqual(['p11', 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
  expect(users.timing().hashCount).toBe(USERS_PER_EMAIL_MAX);
});

test.each([
  ['no user', []],
  ['a user without a password', [null]],
  ['one user', ['x']],
  ['five users', ['x', 'x', null, 'x', 'x', 'x']],
  ['eight users', Array(8).fill('x')],
])('a refusal takes as long with %s', async (_name, passwords) => {
  const users = openUsers(passwords);
  await users.find('wrong');
  expect(users.timing().clockMs).toBe(USERS_PER_EMAIL_MAX * HASH_MS);
  expect(users.timing().hashCount).toBe(Math.max(1, passwords.filter((one) => one !== null).length));
});
