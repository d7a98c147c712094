/**
 * Lists, changes and ends memberships, and enforces their rules: an account always has an owner; only owners add or
 * remove owners; no one grants rights that they don't have. Also looks up the names of people.
 */

import { isDeepStrictEqual } from 'node:util';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { createTurns } from '../../lib/turns.ts';
import type { InvitationRow, PeopleChange, PeopleStore, PersonRow } from '../../store/ports/people.ts';
import type { RecordEvent } from '../people-event.ts';
import {
  type MemberRights,
  type Membership,
  membershipOf,
  OPERATOR_ACCOUNT,
  type Permission,
  permissionsOf,
  renderWorkspaces,
} from '../roles.ts';

/** The person who makes a change, and their rights in the account. */
export interface Granter {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly account: string;
  /** Null: every workspace of the account. */
  readonly workspaces: readonly string[] | null;
  /** In all accounts, as their rights were decided. */
  readonly memberships: readonly (MemberRights & { readonly account: string })[];
  may(permission: Permission): boolean;
}

export interface Member extends Membership {
  readonly of: PersonRow;
}

type GivenRights = { readonly [Right in keyof MemberRights]?: MemberRights[Right] | undefined };

export interface Members {
  /**
   * The members who may enter at least one of the workspaces (null: all members), in the order in which they joined.
   */
  list(account: string, workspaces: readonly string[] | null): Promise<readonly Member[]>;
  /** Omitted rights stay unchanged. @throws ConsoleFailure `not_found`, `forbidden`, `conflict` for the last owner */
  change(granter: Granter, person: string, rights: GivenRights): Promise<Member>;
  /**
   * As `change`. The keys that the person created stop working; losing the last membership ends their sessions. `forget`
   * runs before the removal: if it fails, the member stays, so that the removal can be repeated.
   */
  remove(granter: Granter, person: string, forget: (member: Member) => Promise<unknown>): Promise<void>;
}

export interface MembersParts {
  readonly people: PeopleStore;
  readonly note: RecordEvent;
  /** The workspaces of an account. */
  workspacesOf(account: string): readonly string[];
  nowMs(): number;
}

/** Throws `forbidden` or `invalid` where the giver may not grant these rights. */
export function checkGrant(granter: Granter, { role, workspaces }: MemberRights, known: readonly string[]): void {
  if (role === 'owner' && !granter.may('owners.write'))
    throw new ConsoleFailure('forbidden', 'only an owner can add an owner', { member: 'role' });
  if (!holds(granter.workspaces, workspaces)) {
    throw new ConsoleFailure('forbidden', 'you can grant only workspaces that you have yourself', {
      member: 'workspaces',
    });
  }
  const beyond = permissionsOf({ role, workspaces }, granter.account).find((permission) => !granter.may(permission));
  if (beyond !== undefined) {
    throw new ConsoleFailure(
      'forbidden',
      `the role ${role} has a permission that yours lacks (${beyond}); choose another role`,
      { member: 'role' },
    );
  }
  if (role === 'owner' && workspaces !== null) {
    throw new ConsoleFailure('invalid', 'an owner has all workspaces of the account; leave the list out', {
      member: 'workspaces',
    });
  }
  const strange = workspaces?.find((workspace) => !known.includes(workspace));
  if (strange !== undefined) {
    throw new ConsoleFailure(
      'invalid',
      `found the workspace ${JSON.stringify(strange)}, which this account does not have`,
      { member: 'workspaces' },
    );
  }
}

/** Whether one list of workspaces (null: all) includes all of another. */
export function holds(all: readonly string[] | null, some: readonly string[] | null): boolean {
  return all === null || (some?.every((workspace) => all.includes(workspace)) ?? false);
}

/** Whether rights lack something that a membership has. */
function isNarrower(rights: MemberRights, before: Membership): boolean {
  const kept = permissionsOf(rights, before.account);
  const lost = permissionsOf(before, before.account).some((permission) => !kept.includes(permission));
  return lost || !holds(rights.workspaces, before.workspaces);
}

/**
 * Whether two lists of workspaces (null: all) have one in common. Members see the members that share a
 * workspace.
 */
export function shares(mine: readonly string[] | null, theirs: readonly string[] | null): boolean {
  return mine === null || theirs === null || theirs.some((workspace) => mine.includes(workspace));
}

/**
 * Applies all changes, if the memberships that give the granter the right to them are still the same. Throws `conflict` if
 * not, or if a change matched another number of rows than required.
 */
export async function saveAs(
  { id, memberships }: Granter,
  people: Pick<PeopleStore, 'save'>,
  changes: readonly PeopleChange[],
): Promise<void> {
  const unchanged = memberships.map(({ account, role, workspaces }): PeopleChange => {
    const where = [
      ['person', 'is', id],
      ['account', 'is', account],
      ['role', 'is', role],
      ['workspaces', 'is', renderWorkspaces(workspaces)],
    ] as const;
    return { of: 'membership', update: { role }, where, rows: 1 };
  });
  if (await people.save([...unchanged, ...changes])) return;
  throw new ConsoleFailure(
    'conflict',
    'your rights or the members changed in the meantime; look at them, and try again',
    {
      page: '/app/members',
    },
  );
}

export function createMembers(parts: MembersParts): Members {
  const { people, note, workspacesOf, nowMs } = parts;
  /** Changes run one at a time: each checks before it writes, and two at once could remove the last two owners. */
  const inTurn = createTurns();

  async function list(account: string, workspaces: readonly string[] | null): Promise<readonly Member[]> {
    const rows = await people.find('membership', {
      where: [['account', 'is', account]],
      orderBy: ['joined_at_ms', 'asc'],
    });
    const persons = await people.find('person', { where: [['id', 'in', rows.map(({ person }) => person)]] });
    const byId = new Map(persons.map((person) => [person.id, person]));
    return rows.flatMap((row) => {
      const of = byId.get(row.person);
      const membership = membershipOf(row);
      return of === undefined || !shares(workspaces, membership.workspaces) ? [] : [{ ...membership, of }];
    });
  }

  /** The member, if the giver may change them. `stays`: whether they remain an owner. */
  async function findChangeable(granter: Granter, person: string, stays: boolean): Promise<Member> {
    const all = await list(granter.account, granter.workspaces);
    const member = all.find((one) => one.person === person);
    if (member === undefined) {
      throw new ConsoleFailure('not_found', 'this account has no such member', { page: '/app/members' });
    }
    if (member.role === 'owner' && !granter.may('owners.write')) {
      throw new ConsoleFailure('forbidden', 'only an owner can change or remove an owner');
    }
    if (!holds(granter.workspaces, member.workspaces)) {
      throw new ConsoleFailure('forbidden', 'this member has workspaces that you do not have');
    }
    if (member.role === 'owner' && !stays && all.filter(({ role }) => role === 'owner').length === 1) {
      throw new ConsoleFailure('conflict', 'this is the last owner of the account; add another owner first', {
        page: '/app/members',
      });
    }
    return member;
  }

  function conditionsOf({ person, account }: Membership) {
    return [
      ['person', 'is', person],
      ['account', 'is', account],
    ] as const;
  }

  /**
   * Withdraws the open invitations of a member who loses rights, since they may no longer grant them: of an operator of
   * the installation, those to every account. `open`: those that could still be accepted.
   */
  async function withdrawnWith({ person, account }: Membership) {
    const own = [
      ['invited_by', 'is', person],
      ['accepted_at_ms', 'is', null],
    ] as const;
    const remove = account === OPERATOR_ACCOUNT ? own : ([...own, ['account', 'is', account]] as const);
    const open = (await people.find('invitation', { where: remove })).filter((row) => row.expires_at_ms > nowMs());
    return { change: { of: 'invitation', remove, rows: null }, open } as const;
  }

  /** Ends all sessions of a person who no longer has an account. */
  function endedWith({ person }: Membership): PeopleChange {
    return { of: 'person_session', remove: [['person', 'is', person]], rows: null };
  }

  function noteOf(granter: Granter, person: string) {
    const { id, name, account, address } = granter;
    return { actor: { id, name }, account, subject: { kind: 'person', id: person }, address, atMs: nowMs() } as const;
  }

  return {
    list,
    change: (granter, person, { role, workspaces }) =>
      inTurn(async () => {
        const before = await findChangeable(granter, person, role === undefined || role === 'owner');
        const rights = {
          role: role ?? before.role,
          workspaces: workspaces === undefined ? before.workspaces : workspaces,
        };
        if (isDeepStrictEqual(rights, { role: before.role, workspaces: before.workspaces })) return before;
        checkGrant(granter, rights, workspacesOf(granter.account));
        const update = { role: rights.role, workspaces: renderWorkspaces(rights.workspaces) };
        const withdrawn = isNarrower(rights, before) ? await withdrawnWith(before) : null;
        await saveAs(granter, people, [
          { of: 'membership', update, where: conditionsOf(before), rows: 1 },
          ...(withdrawn === null ? [] : [withdrawn.change]),
        ]);
        await note({
          act: 'member.change',
          before: { role: before.role, workspaces: before.workspaces },
          after: rights,
          ...noteOf(granter, person),
        });
        await noteWithdrawn(parts, granter, withdrawn?.open ?? []);
        return { ...before, ...rights };
      }),
    remove: (granter, person, forget) =>
      inTurn(async () => {
        const before = await findChangeable(granter, person, false);
        const others = await people.find('membership', { where: [['person', 'is', person]], limit: 2 });
        const withdrawn = await withdrawnWith(before);
        await forget(before);
        await saveAs(granter, people, [
          { of: 'membership', remove: conditionsOf(before), rows: 1 },
          withdrawn.change,
          ...(others.length === 1 ? [endedWith(before)] : []),
        ]);
        await note({
          act: 'member.remove',
          before: { role: before.role, workspaces: before.workspaces },
          after: null,
          ...noteOf(granter, person),
        });
        await noteWithdrawn(parts, granter, withdrawn.open);
      }),
  };
}

/** Notes that invitations were withdrawn, by their inviter or with a change of members. */
export async function noteWithdrawn(
  { note, nowMs }: Pick<MembersParts, 'note' | 'nowMs'>,
  { id, name, address }: Granter,
  rows: readonly InvitationRow[],
): Promise<void> {
  for (const row of rows) {
    await note({
      act: 'invitation.withdraw',
      actor: { id, name },
      account: row.account,
      subject: { kind: 'invitation', id: row.id },
      before: { email: row.email, role: row.role },
      after: null,
      address,
      atMs: nowMs(),
    });
  }
}

/** Names by id. Deleted people are omitted. */
export type PersonNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export function createPersonNames(people: Pick<PeopleStore, 'find'>): PersonNames {
  return async (ids) => {
    const rows = ids.length === 0 ? [] : await people.find('person', { where: [['id', 'in', [...new Set(ids)]]] });
    return new Map(rows.map(({ id, name }) => [id, name]));
  };
}

/** The addresses of an account's members, lower case. */
export function createMemberAddresses(
  people: Pick<PeopleStore, 'find'>,
): (account: string) => Promise<readonly string[]> {
  return async (account) => {
    const members = await people.find('membership', { where: [['account', 'is', account]] });
    const where = [['id', 'in', members.map(({ person }) => person)]] as const;
    return members.length === 0 ? [] : (await people.find('person', { where })).map(({ email }) => email);
  };
}
