/** Owns how passwords are kept and compared: argon2id, on threads beside the one that answers, a few at a time. */
import { createTurns } from './turns.ts';

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
