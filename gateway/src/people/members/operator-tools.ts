/**
 * Implements what the operator's commands do with users: verifies an email address and restores memberships that were
 * suspended until then, and creates one-time links.
 */
import type { PeopleChange, PeopleStore, PersonRow } from '../../store/ports/people.ts';
import { requireEmail } from '../email-address.ts';
import { createResetLinks, type ResetLinks } from './password-resets.ts';
import { createSetUp, type SetUp } from './set-up.ts';

/** `several`: unverified users of the address, by account. `verified`: a user of the address is already verified. */
export type VerifyOutcome =
  | { readonly kind: 'done'; readonly user: VerifiedUser }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'verified'; readonly person: string }
  | { readonly kind: 'several'; readonly accounts: readonly string[] };

export interface VerifiedUser {
  readonly person: string;
  readonly email: string;
  readonly name: string;
  /** The account that invited the user; null: a user without an account, from before version 21 of the database. */
  readonly account: string | null;
  readonly createdAtMs: number;
  /** Existing sign-in methods that keep working. */
  readonly hasPassword: boolean;
  readonly passkeyCount: number;
  readonly sessionCount: number;
  /** Accounts whose suspended memberships are restored. */
  readonly restored: readonly string[];
}

/** `account` null: the address has only one unverified user. @throws ConsoleFailure `invalid` for an invalid address */
export type VerifyEmail = (email: string, account: string | null) => Promise<VerifyOutcome>;

export function createVerifyEmail(people: PeopleStore): VerifyEmail {
  return async (given, account) => {
    const email = requireEmail(given);
    const users = await people.find('person', { where: [['email', 'is', email]] });
    const verified = users.find(({ email_verified }) => email_verified === 1);
    if (verified !== undefined) return { kind: 'verified', person: verified.id };
    const meant = users.filter((user) => account === null || user.account === account);
    const [user, other] = meant;
    if (user === undefined) return { kind: 'unknown' };
    if (other !== undefined) return { kind: 'several', accounts: meant.flatMap((one) => one.account ?? []).sort() };
    return verify(people, user);
  };
}

async function verify(people: PeopleStore, user: PersonRow): Promise<VerifyOutcome> {
  const where = [['person', 'is', user.id]] as const;
  const [memberships, suspended, methods, passkeys, sessions] = await Promise.all([
    people.find('membership', { where }),
    people.find('suspended_membership', { where }),
    people.find('sign_in_method', { where }),
    people.find('passkey', { where }),
    people.find('person_session', { where }),
  ]);
  const restored = suspended.filter(({ account }) => memberships.every((one) => one.account !== account));
  const update = { email_verified: 1, unique_email: user.email, account: null } as const;
  const unverified = [
    ['id', 'is', user.id],
    ['email_verified', 'is', 0],
  ] as const;
  const isKept = await people.save([
    { of: 'person', update, where: unverified, rows: 1 },
    { of: 'suspended_membership', remove: where, rows: null },
    // An admin of the one account may have created the link and would set a password that now opens others.
    { of: 'reset_link', remove: where, rows: null },
    ...restored.map((insert): PeopleChange => ({ of: 'membership', insert })),
  ]);
  // A concurrent command or sign-in with a service has verified it first.
  if (!isKept) return createVerifyEmail(people)(user.email, user.account);
  return {
    kind: 'done',
    user: {
      person: user.id,
      email: user.email,
      name: user.name,
      account: user.account,
      createdAtMs: user.created_at_ms,
      hasPassword: methods.some(({ password_hash }) => password_hash !== null),
      passkeyCount: passkeys.length,
      sessionCount: sessions.length,
      restored: restored.map(({ account }) => account),
    },
  };
}

export interface LinkMakers {
  readonly makeSetUp: SetUp['makeLink'];
  readonly makeReset: ResetLinks['makeByEmail'];
}

/** `nowMs`: unix ms. */
export function createLinkMakers(people: PeopleStore, nowMs: () => number): LinkMakers {
  return { makeSetUp: createSetUp(people, nowMs).makeLink, makeReset: createResetLinks(people, nowMs).makeByEmail };
}
