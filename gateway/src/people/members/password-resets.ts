/**
 * Creates password reset links and resets passwords with them. A user who can reset a person's password can sign in as
 * that person, so creating a link requires the right to administer everything that the person can open.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import { generateId } from '../../identity/key-format.ts';
import type { PeopleChange, PeopleStore, PersonRow, ResetLinkRow } from '../../store/ports/people.ts';
import { readEmail } from '../email-address.ts';
import { membershipOf } from '../roles.ts';
import { hashPassword } from '../sign-in/passwords.ts';
import { type Granter, holds, type MembersParts, saveAs, shares } from './members.ts';
import { createToken, hashToken } from './set-up.ts';

/** The person who creates a link, and their rights in any account; null: none. */
export interface ResetGranter extends Granter {
  rightsIn(account: string): Pick<Granter, 'workspaces' | 'may'> | null;
}

/** The person whose password a link resets. */
export interface OpenReset {
  readonly email: string;
  readonly expiresAtMs: number;
}

export interface PasswordResets {
  /**
   * A link for a member of the giver's account. @throws ConsoleFailure `not_found`, `forbidden`, `conflict` for
   * themselves
   */
  makeLink(granter: ResetGranter, person: string): Promise<ResetLink>;
  /** Null: the link is invalid. */
  look(token: string): Promise<OpenReset | null>;
  /**
   * Sets the password, ends all sessions of the person, removes their passkeys and marks the link as used, or changes
   * nothing. Passkeys are removed because someone other than the link's recipient may have created them. Linked
   * services stay, since each vouches for the address; so does the second factor, which signs no one in by itself,
   * unless the link removes it. @throws ConsoleFailure `gone`
   */
  reset(token: string, password: string, address: string | null): Promise<void>;
}

type ResetParts = Pick<MembersParts, 'people' | 'note' | 'nowMs'> & { readonly links: ResetLinks };

export function createPasswordResets({ people, note, nowMs, links }: ResetParts): PasswordResets {
  async function personOf({ person }: ResetLinkRow): Promise<PersonRow> {
    const [row] = await people.find('person', { where: [['id', 'is', person]] });
    if (row === undefined) throw new Error(`the link is to ${person}, who is not there`);
    return row;
  }

  async function checkMayReset(granter: ResetGranter, person: string): Promise<void> {
    const rows = await people.find('membership', { where: [['person', 'is', person]] });
    const memberships = rows.map(membershipOf);
    const own = memberships.find(({ account }) => account === granter.account);
    if (own === undefined || !shares(granter.workspaces, own.workspaces)) {
      throw new ConsoleFailure('not_found', 'this account has no such member', { page: '/app/members' });
    }
    if (person === granter.id) {
      throw new ConsoleFailure('conflict', 'change your own password on your profile page', { page: '/app/me' });
    }
    const [user] = await people.find('person', { where: [['id', 'is', person]] });
    // A verified user can join other accounts later, which the password would open too.
    if (user?.email_verified === 1 && !granter.may('operator.write')) {
      throw new ConsoleFailure(
        'forbidden',
        `the address of this member is verified, so they can join other accounts, and the link would give access to those too; ask the operator of the gateway for one: tollgate reset-password ${user.email}`,
      );
    }
    for (const { account, role, workspaces } of memberships) {
      const rights = granter.rightsIn(account);
      if (rights?.may('members.write') !== true || !holds(rights.workspaces, workspaces)) {
        throw new ConsoleFailure(
          'forbidden',
          'this member can open an account or workspaces that you do not administer, and the link would give you access to them; ask the operator of the gateway for one: tollgate reset-password',
        );
      }
      if (role === 'owner' && !rights.may('owners.write')) {
        throw new ConsoleFailure('forbidden', 'only an owner can reset the password of an owner');
      }
    }
  }

  /** Sets the person's password, whether or not they had one. */
  async function passwordChange(person: string, password: string): Promise<PeopleChange> {
    const [method] = await people.find('sign_in_method', {
      where: [
        ['person', 'is', person],
        ['provider', 'is', 'credential'],
      ],
    });
    const password_hash = await hashPassword(password);
    const atMs = nowMs();
    if (method !== undefined) {
      const update = { password_hash, updated_at_ms: atMs };
      return { of: 'sign_in_method', update, where: [['id', 'is', method.id]], rows: 1 };
    }
    const id = generateId('method');
    const times = { created_at_ms: atMs, updated_at_ms: atMs };
    const insert = { id, person, provider: 'credential', subject: person, scope: null, password_hash, ...times };
    return { of: 'sign_in_method', insert };
  }

  return {
    async makeLink(granter, person) {
      await checkMayReset(granter, person);
      const link = await links.makeFor(person, granter);
      // Checked again: a change of rights deletes stored links, and may have happened just before this one was stored.
      await checkMayReset(granter, person);
      const { id, name, account, address } = granter;
      const subject = { kind: 'person', id: person } as const;
      const after = { expires_at: new Date(link.expiresAtMs).toISOString() };
      const common = { account, subject, before: null, after, address, atMs: nowMs() };
      await note({ act: 'person.reset_link', actor: { id, name }, ...common });
      return link;
    },

    async look(token) {
      const link = await links.find(token);
      return link === null ? null : { email: (await personOf(link)).email, expiresAtMs: link.expires_at_ms };
    },

    async reset(token, password, address) {
      const link = await links.find(token);
      if (link === null) throw linkIsGone();
      const { id, name } = await personOf(link);
      const passkeys = await people.find('passkey', { where: [['person', 'is', id]] });
      const endsSecondFactor = link.ends_second_factor === 1;
      const isKept = await people.save([
        { of: 'reset_link', remove: [['token_hash', 'is', link.token_hash]], rows: 1 },
        await passwordChange(id, password),
        { of: 'person_session', remove: [['person', 'is', id]], rows: null },
        // Cancels a sign-in with the old password that is waiting for its code.
        { of: 'sign_in_step', remove: [['value', 'is', id]], rows: null },
        { of: 'passkey', remove: [['person', 'is', id]], rows: null },
        ...(endsSecondFactor ? withoutSecondFactor(id) : []),
      ]);
      if (!isKept) throw linkIsGone();
      await note({
        act: 'person.reset',
        actor: { id, name },
        account: null,
        subject: { kind: 'person', id },
        before: null,
        after: { removed_passkeys: passkeys.length, ...(endsSecondFactor ? { second_factor: 'off' } : {}) },
        address,
        atMs: nowMs(),
      });
    },
  };
}

function withoutSecondFactor(person: string): PeopleChange[] {
  return [
    { of: 'second_factor', remove: [['person', 'is', person]], rows: null },
    { of: 'person', update: { second_factor: 0 }, where: [['id', 'is', person]], rows: 1 },
  ];
}

function linkIsGone(): ConsoleFailure {
  return new ConsoleFailure(
    'gone',
    'this link was used, has expired, was replaced, or is no longer valid after a change of the user. Ask for a new one, or print one: tollgate reset-password EMAIL',
    { page: '/app/sign-in' },
  );
}

interface ResetLink {
  /** The person whose password it resets. */
  readonly person: string;
  readonly token: string;
  readonly expiresAtMs: number;
}

/** `unknown`: no user (of the account) has the address. `several`: users in these accounts have it. */
type ResetMade =
  | { readonly kind: 'made'; readonly link: ResetLink }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'several'; readonly accounts: readonly string[] };

export interface ResetLinks {
  /**
   * A new link for the user with an address; `account` selects one of several users. The previous link stops working.
   * `endsSecondFactor`: using the link turns the second factor off.
   */
  makeByEmail(email: string, account: string | null, endsSecondFactor: boolean): Promise<ResetMade>;
  /** A new link for a person, requested by another one; the second factor stays. @throws ConsoleFailure as `saveAs` */
  makeFor(person: string, granter: Granter): Promise<ResetLink>;
  /** Null: the link is invalid. */
  find(token: string): Promise<ResetLinkRow | null>;
}

const LINK_MS = 3_600_000;

/** `nowMs`: unix ms. */
export function createResetLinks(people: PeopleStore, nowMs: () => number): ResetLinks {
  async function make(
    row: Pick<ResetLinkRow, 'person' | 'made_by' | 'ends_second_factor'>,
    save: (changes: readonly PeopleChange[]) => Promise<unknown>,
  ): Promise<ResetLink> {
    const { token, hash } = createToken();
    const expiresAtMs = nowMs() + LINK_MS;
    await save([
      { of: 'reset_link', remove: [['person', 'is', row.person]], rows: null },
      { of: 'reset_link', insert: { ...row, token_hash: hash, expires_at_ms: expiresAtMs } },
    ]);
    return { person: row.person, token, expiresAtMs };
  }

  return {
    async makeByEmail(given, account, endsSecondFactor) {
      const email = readEmail(given);
      const users = email === null ? [] : await people.find('person', { where: [['email', 'is', email]] });
      const where = [['person', 'in', users.map(({ id }) => id)]] as const;
      const memberships = await people.find('membership', { where });
      const accountsOf = (user: PersonRow) => {
        const joined = memberships.flatMap((one) => (one.person === user.id ? one.account : []));
        // The only user with the address may have been removed from the account.
        return joined.length === 0 && user.account !== null ? [user.account] : joined;
      };
      const meant = users.filter((user) => account === null || accountsOf(user).includes(account));
      const [person, other] = meant;
      if (person === undefined) return { kind: 'unknown' };
      if (other !== undefined) return { kind: 'several', accounts: [...new Set(meant.flatMap(accountsOf))].sort() };
      const row = { person: person.id, made_by: null, ends_second_factor: endsSecondFactor ? 1 : 0 } as const;
      return { kind: 'made', link: await make(row, people.save) };
    },
    makeFor: (person, granter) =>
      make({ person, made_by: granter.id, ends_second_factor: 0 }, (changes) => saveAs(granter, people, changes)),
    async find(token) {
      const [row] = await people.find('reset_link', {
        where: [
          ['token_hash', 'is', hashToken(token)],
          ['expires_at_ms', '>', nowMs()],
        ],
      });
      return row ?? null;
    },
  };
}
