/** Tests how passwords are stored. */
import { expect, test } from 'bun:test';
import { hashPassword, isPassword } from './passwords.ts';

test('a hash fits its password alone, and no two are alike', async () => {
  const [one, other] = [await hashPassword('a long password'), await hashPassword('a long password')];
  expect(one).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(one).not.toBe(other);
  expect([await isPassword('a long password', one), await isPassword('a long passworD', one)]).toEqual([true, false]);
});
