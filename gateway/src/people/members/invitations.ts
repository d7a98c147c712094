/**
 * Creates, lists, withdraws and accepts invitations. An invitation is for one address and has a one-time link; sending
 * it is left to the inviter.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import { generateId } from '../../identity/key-format.ts';
import type { InvitationRow, PeopleChange, PersonRow } from '../../store/ports/people.ts';
import { requireEmail } from '../email-address.ts';
import { type MemberRights, parseRole, parseWorkspaces, type Role, renderWorkspaces } from '../roles.ts';
import { UNVERIFIED_PER_EMAIL_MAX } from '../sign-in/passwords.ts';
import type { SignedIn } from '../sign-in/sessions.ts';
import {
  checkGrant,
  createPersonNames,
  type Granter,
  holds,
  type MembersParts,
  noteWithdrawn,
  saveAs,
  shares,
} from './members.ts';
import { createToken, hashToken, makePerson } from './set-up.ts';

export interface Invitation extends MemberRights {
  readonly id: string;
  readonly account: string;
  readonly email: string;
  readonly role: Role;
  /** The person's name. */
  readonly invitedBy: string;
  readonly expiresAtMs: number;
}

export interface Invitations {
  /** The open invitations of an account for at least one of the workspaces (null: all), newest first. */
  list(account: string, workspaces: readonly string[] | null): Promise<readonly Invitation[]>;
  /** Invites an address and replaces its open invitation. @throws ConsoleFailure `conflict`, and as `checkGrant` */
  create(granter: Granter, email: string, rights: MemberRights): Promise<{ invitation: Invitation; token: string }>;
  /** @throws ConsoleFailure `not_found`, `forbidden` */
  withdraw(granter: Granter, id: string): Promise<void>;
  /** Null: the link is invalid. */
  look(token: string): Promise<Invitation | null>;
  /** Accepts as an existing user. @throws ConsoleFailure `gone`, `conflict` */
  acceptAs(signedIn: SignedIn, token: string, address: string | null): Promise<void>;
  /**
   * Creates an unverified user of the invitation's account and accepts as that user, even if other accounts have users
   * with the same address: the holder of the link learns nothing about them and gets none of their access. Returns the
   * user's id.
   * @throws ConsoleFailure `gone`, `signed_out` where the account already created a user with this address, `conflict`
   * where the address has too many users
   */
  acceptNew(token: string, given: { name: string; password: string }, address: string | null): Promise<string>;
}

const INVITATION_MS = 7 * 86_400_000;

export function createInvitations(parts: MembersParts): Invitations {
  const { people, note, workspacesOf, nowMs } = parts;

  const personNames = createPersonNames(people);
  const nameOf = async (person: string) => (await personNames([person])).get(person) ?? person;

  function invitationOf(row: InvitationRow, invitedBy: string): Invitation {
    return {
      id: row.id,
      account: row.account,
      email: row.email,
      role: parseRole(row.role),
      workspaces: parseWorkspaces(row.workspaces),
      invitedBy,
      expiresAtMs: row.expires_at_ms,
    };
  }

  async function findOpen(token: string): Promise<InvitationRow | null> {
    const [row] = await people.find('invitation', {
      where: [
        ['token_hash', 'is', hashToken(token)],
        ['accepted_at_ms', 'is', null],
        ['expires_at_ms', '>', nowMs()],
      ],
    });
    return row ?? null;
  }

  const findUsers = (email: string) => people.find('person', { where: [['email', 'is', email]] });

  /** Marks the invitation as used and creates the membership, or changes nothing. */
  async function accept(row: InvitationRow, person: string, making: readonly PeopleChange[], address: string | null) {
    const atMs = nowMs();
    const { account, role, workspaces } = row;
    const where = [
      ['id', 'is', row.id],
      ['accepted_at_ms', 'is', null],
    ] as const;
    const isKept = await people.save([
      { of: 'invitation', update: { accepted_at_ms: atMs }, where, rows: 1 },
      ...making,
      { of: 'membership', insert: { person, account, role, workspaces, joined_at_ms: atMs } },
    ]);
    if (!isKept) throw invitationIsGone();
    await note({
      act: 'invitation.accept',
      actor: { id: person, name: await nameOf(person) },
      account,
      subject: { kind: 'invitation', id: row.id },
      before: null,
      after: { email: row.email, role, workspaces: parseWorkspaces(workspaces) },
      address,
      atMs,
    });
  }

  return {
    async list(account, workspaces) {
      const all = await people.find('invitation', {
        where: [
          ['account', 'is', account],
          ['accepted_at_ms', 'is', null],
          ['expires_at_ms', '>', nowMs()],
        ],
        orderBy: ['created_at_ms', 'desc'],
      });
      const rows = all.filter((row) => shares(workspaces, parseWorkspaces(row.workspaces)));
      const names = await personNames(rows.map(({ invited_by }) => invited_by));
      return rows.map((row) => invitationOf(row, names.get(row.invited_by) ?? row.invited_by));
    },

    async create(granter, givenEmail, rights) {
      checkGrant(granter, rights, workspacesOf(granter.account));
      const email = requireEmail(givenEmail);
      const users = await findUsers(email);
      if (await hasMember(granter.account, users)) {
        throw new ConsoleFailure('conflict', `${email} is already a member of this account; change the role instead`, {
          member: 'email',
          page: '/app/members',
        });
      }
      const { token, hash } = createToken();
      const atMs = nowMs();
      const row: InvitationRow = {
        id: generateId('invitation'),
        account: granter.account,
        email,
        role: rights.role,
        workspaces: renderWorkspaces(rights.workspaces),
        token_hash: hash,
        invited_by: granter.id,
        created_at_ms: atMs,
        expires_at_ms: atMs + INVITATION_MS,
        accepted_at_ms: null,
      };
      const replaced = [
        ['account', 'is', granter.account],
        ['email', 'is', email],
        ['accepted_at_ms', 'is', null],
      ] as const;
      const open = await people.find('invitation', { where: replaced });
      if (open.some((one) => lockOf(granter, one) !== null)) {
        throw new ConsoleFailure(
          'conflict',
          `${email} has an open invitation that you cannot revoke; ask an owner or admin of the whole account`,
          { member: 'email', page: '/app/members' },
        );
      }
      await saveAs(granter, people, [
        { of: 'invitation', remove: replaced, rows: null },
        { of: 'invitation', insert: row },
      ]);
      const { id, name, account, address } = granter;
      const subject = { kind: 'invitation', id: row.id } as const;
      const after = { email, ...rights };
      await noteWithdrawn(
        parts,
        granter,
        open.filter((one) => one.expires_at_ms > atMs),
      );
      await note({
        act: 'invitation.create',
        actor: { id, name },
        account,
        subject,
        before: null,
        after,
        address,
        atMs: nowMs(),
      });
      return { invitation: invitationOf(row, granter.name), token };
    },

    async withdraw(granter, id) {
      const where = [
        ['id', 'is', id],
        ['account', 'is', granter.account],
        ['accepted_at_ms', 'is', null],
      ] as const;
      const [row] = await people.find('invitation', { where });
      const isSeen = row !== undefined && shares(granter.workspaces, parseWorkspaces(row.workspaces));
      const lock = isSeen ? lockOf(granter, row) : null;
      if (lock !== null) throw new ConsoleFailure('forbidden', lock);
      if (!isSeen || !(await people.save([{ of: 'invitation', remove: where, rows: 1 }]))) {
        throw new ConsoleFailure('not_found', 'there is no such open invitation', { page: '/app/members' });
      }
      await noteWithdrawn(parts, granter, [row]);
    },

    async look(token) {
      const row = await findOpen(token);
      if (row === null) return null;
      return invitationOf(row, await nameOf(row.invited_by));
    },

    async acceptAs({ person }, token, address) {
      const row = await findOpen(token);
      if (row === null) throw invitationIsGone();
      if (row.email !== person.email) {
        throw new ConsoleFailure(
          'conflict',
          `this invitation is for ${row.email}, and you are signed in as ${person.email}; sign out first`,
        );
      }
      if (await hasMember(row.account, [person])) {
        throw new ConsoleFailure('conflict', 'you are already a member of this account', { page: '/app' });
      }
      if (person.email_verified === 0 && person.account !== row.account) throw addressNotVerified(person);
      await accept(row, person.id, [], address);
    },

    async acceptNew(token, given, address) {
      const row = await findOpen(token);
      if (row === null) throw invitationIsGone();
      const users = await findUsers(row.email);
      const unverified = users.filter(({ email_verified }) => email_verified === 0);
      if (unverified.some(({ account }) => account === row.account) || (await hasMember(row.account, users))) {
        throw new ConsoleFailure(
          'signed_out',
          `${row.email} is already a member of this account; sign in as that user, then open the invitation again`,
          { page: '/app/sign-in' },
        );
      }
      if (unverified.length >= UNVERIFIED_PER_EMAIL_MAX) {
        throw new ConsoleFailure(
          'conflict',
          `${row.email} has ${unverified.length} users with an unverified address, the maximum; ask the operator of the gateway to verify one of them (tollgate members verify ${row.email} --account ACCOUNT), sign in as that user, then open the invitation again`,
        );
      }
      const person = await makePerson({ ...given, email: row.email, account: row.account }, nowMs());
      await accept(row, person.id, person.changes, address);
      return person.id;
    },
  };

  async function hasMember(account: string, users: readonly PersonRow[]): Promise<boolean> {
    const where = [
      ['person', 'in', users.map(({ id }) => id)],
      ['account', 'is', account],
    ] as const;
    return (await people.find('membership', { where, limit: 1 })).length > 0;
  }
}

/** Why the caller may not withdraw an invitation; null: they may. */
function lockOf(granter: Granter, { role, workspaces }: InvitationRow): string | null {
  if (role === 'owner' && !granter.may('owners.write')) return 'only an owner can revoke the invitation of an owner';
  return holds(granter.workspaces, parseWorkspaces(workspaces))
    ? null
    : 'this invitation includes workspaces that you do not have';
}

function addressNotVerified({ email, account }: PersonRow): ConsoleFailure {
  const command = `tollgate members verify ${email}${account === null ? '' : ` --account ${account}`}`;
  return new ConsoleFailure(
    'conflict',
    `your address ${email} is not verified, so you can be a member of only one account. Sign out and accept as a new user, or ask the operator of the gateway to verify it: ${command}`,
  );
}

function invitationIsGone(): ConsoleFailure {
  return new ConsoleFailure(
    'gone',
    'this invitation was accepted, revoked or replaced, or has expired; ask the member who invited you for a new one',
  );
}
