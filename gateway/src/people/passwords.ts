/** Owns how passwords are kept and compared: argon2id, on threads beside the one that answers. */

/** OWASP's first choice: 19 MiB, two passes. https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html (read 2026-11-21). */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;

export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 200;

/** The hash of a password, with its salt and costs in it. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, ARGON2ID);
}

/** Whether it is the password behind a hash. */
export function isPassword(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}
