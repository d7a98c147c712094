/**
 * Owns who is what to an account: changing and ending memberships, and what nobody may do. An account always has an owner;
 * owners alone make and unmake owners; nobody gives what he does not have.
 */
import type { PeopleChange, PeopleStore, PersonRow } from '../../store/ports/people.ts';
import { PeopleFailure, type TakeNote } from '../people-failure.ts';
import {
  type MakerRights,
  type MemberRights,
  type Membership,
  makerRightsOf,
  membershipOf,
  type Permission,
  permissionsOf,
  renderWorkspaces,
} from '../roles.ts';
import type { Sessions } from '../sign-in/sessions.ts';

/** Who changes something, and what he may do in the account. */
export interface Giver {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly account: string;
  /** Null: every workspace of the account. */
  readonly workspaces: readonly string[] | null;
  may(permission: Permission): boolean;
}

export interface Member extends Membership {
  readonly of: PersonRow;
}

type GivenRights = { readonly [Right in keyof MemberRights]?: MemberRights[Right] | undefined };

export interface Members {
  /** Everybody of the account who may enter one of the workspaces (null: everybody), who joined first first. */
  list(account: string, workspaces: readonly string[] | null): Promise<readonly Member[]>;
  /** What is left out stays. @throws PeopleFailure `not_found`, `forbidden`, `conflict` for the last owner */
  change(giver: Giver, person: string, rights: GivenRights): Promise<Member>;
  /** As `change`. The keys that he made stop to work; with his last membership his sessions end. */
  remove(giver: Giver, person: string): Promise<void>;
}

export interface MembersParts {
  readonly people: PeopleStore;
  readonly sessions: Pick<Sessions, 'forget'>;
  readonly note: TakeNote;
  /** The workspaces of an account. */
  workspacesOf(account: string): readonly string[];
  /** Told what the keys of somebody may do from now on. */
  bindMaker(person: string, rights: MakerRights): void;
  nowMs(): number;
}

/** Binds what a person may do from now on: to his sessions, and to the keys that he made. */
export async function bindPerson(
  { people, sessions, bindMaker }: Pick<MembersParts, 'people' | 'sessions' | 'bindMaker'>,
  person: string,
): Promise<void> {
  const rows = await people.find('membership', { where: [['person', 'is', person]] });
  bindMaker(person, makerRightsOf(rows.map(membershipOf)));
  sessions.forget();
}

/** Throws `forbidden` or `invalid` where the giver may not give these rights. */
export function checkGiven(giver: Giver, { role, workspaces }: MemberRights, known: readonly string[]): void {
  if (role === 'owner' && !giver.may('owners.write'))
    throw new PeopleFailure('forbidden', 'only an owner makes an owner', { member: 'role' });
  if (!holds(giver.workspaces, workspaces)) {
    throw new PeopleFailure('forbidden', 'you can give only workspaces that you have yourself', {
      member: 'workspaces',
    });
  }
  const beyond = permissionsOf({ role, workspaces }, giver.account).find((permission) => !giver.may(permission));
  if (beyond !== undefined) {
    throw new PeopleFailure(
      'forbidden',
      `the role ${role} may do what yours may not (${beyond}); choose a lesser one`,
      {
        member: 'role',
      },
    );
  }
  if (role === 'owner' && workspaces !== null) {
    throw new PeopleFailure('invalid', 'an owner has all workspaces of the account; leave the list out', {
      member: 'workspaces',
    });
  }
  const strange = workspaces?.find((workspace) => !known.includes(workspace));
  if (strange !== undefined) {
    throw new PeopleFailure(
      'invalid',
      `found the workspace ${JSON.stringify(strange)}, which this account does not have`,
      {
        member: 'workspaces',
      },
    );
  }
}

/** Whether one list of workspaces (null: all) has all of another. */
export function holds(all: readonly string[] | null, some: readonly string[] | null): boolean {
  return all === null || (some?.every((workspace) => all.includes(workspace)) ?? false);
}

/** Of whose rights one list has something: who may enter one of its workspaces is seen by those who have it. */
export function shares(mine: readonly string[] | null, theirs: readonly string[] | null): boolean {
  return mine === null || theirs === null || theirs.some((workspace) => mine.includes(workspace));
}

export function createMembers(parts: MembersParts): Members {
  const { people, note, workspacesOf, nowMs } = parts;
  /** One change after another: each looks before it leaps, and two at once could unmake the last two owners. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

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

  /** The member, if the giver may change him. `stays`: whether he is an owner after it. */
  async function findChangeable(giver: Giver, person: string, stays: boolean): Promise<Member> {
    const all = await list(giver.account, giver.workspaces);
    const member = all.find((one) => one.person === person);
    if (member === undefined) {
      throw new PeopleFailure('not_found', 'there is no such member of this account', { page: '/app/members' });
    }
    if (member.role === 'owner' && !giver.may('owners.write')) {
      throw new PeopleFailure('forbidden', 'only an owner changes or removes an owner');
    }
    if (!holds(giver.workspaces, member.workspaces)) {
      throw new PeopleFailure('forbidden', 'this member has workspaces that you do not have');
    }
    if (member.role === 'owner' && !stays && all.filter(({ role }) => role === 'owner').length === 1) {
      throw new PeopleFailure('conflict', 'this is the last owner of the account; make somebody else an owner first', {
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

  /** What somebody invited to by rights that he may not have any more is taken back with them. */
  function withdrawnWith({ person, account }: Membership): PeopleChange {
    const remove = [
      ['invited_by', 'is', person],
      ['account', 'is', account],
      ['accepted_at_ms', 'is', null],
    ] as const;
    return { of: 'invitation', remove, rows: null };
  }

  /** Who is of no account any more is signed out everywhere. */
  function endedWith({ person }: Membership): PeopleChange {
    return { of: 'person_session', remove: [['person', 'is', person]], rows: null };
  }

  function noteOf(giver: Giver, person: string) {
    const { id, name, account, address } = giver;
    return { actor: { id, name }, account, subject: { kind: 'person', id: person }, address, atMs: nowMs() } as const;
  }

  return {
    list,
    change: (giver, person, { role, workspaces }) =>
      inTurn(async () => {
        const before = await findChangeable(giver, person, role === undefined || role === 'owner');
        const rights = {
          role: role ?? before.role,
          workspaces: workspaces === undefined ? before.workspaces : workspaces,
        };
        checkGiven(giver, rights, workspacesOf(giver.account));
        const update = { role: rights.role, workspaces: renderWorkspaces(rights.workspaces) };
        await people.keep([{ of: 'membership', update, where: conditionsOf(before), rows: 1 }, withdrawnWith(before)]);
        await bindPerson(parts, person);
        await note({
          act: 'member.change',
          before: { role: before.role, workspaces: before.workspaces },
          after: rights,
          ...noteOf(giver, person),
        });
        return { ...before, ...rights };
      }),
    remove: (giver, person) =>
      inTurn(async () => {
        const before = await findChangeable(giver, person, false);
        const others = await people.find('membership', { where: [['person', 'is', person]], limit: 2 });
        await people.keep([
          { of: 'membership', remove: conditionsOf(before), rows: 1 },
          withdrawnWith(before),
          ...(others.length === 1 ? [endedWith(before)] : []),
        ]);
        await bindPerson(parts, person);
        await note({
          act: 'member.remove',
          before: { role: before.role, workspaces: before.workspaces },
          after: null,
          ...noteOf(giver, person),
        });
      }),
  };
}

/** Names by id. Who is not there any more is not in it. */
export type PersonNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export function createPersonNames(people: Pick<PeopleStore, 'find'>): PersonNames {
  return async (ids) => {
    const rows = ids.length === 0 ? [] : await people.find('person', { where: [['id', 'in', [...new Set(ids)]]] });
    return new Map(rows.map(({ id, name }) => [id, name]));
  };
}
