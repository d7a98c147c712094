/** Owns what a person is to an account, as it is read from its row, and what that lets the keys do that he made. */
import type { MembershipRow } from '../store/people-port.ts';
import type { Scope } from '../store/ports.ts';
import { type MemberRights, memberMay, ROLES, type Role } from './roles.ts';

export interface Membership extends MemberRights {
  readonly person: string;
  readonly account: string;
  readonly joinedAtMs: number;
}

/** The membership of a row. */
export function membershipOf(row: MembershipRow): Membership {
  return {
    person: row.person,
    account: row.account,
    role: parseRole(row.role),
    workspaces: parseWorkspaces(row.workspaces),
    joinedAtMs: row.joined_at_ms,
  };
}

/** @throws Error for a word that is no role: rights that cannot be known are not guessed. */
export function parseRole(word: string): Role {
  const role = ROLES.find((one) => one === word);
  if (role === undefined) throw new Error(`the database names the role ${word}, which this program does not know`);
  return role;
}

export function parseWorkspaces(text: string | null): readonly string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

export function renderWorkspaces(workspaces: readonly string[] | null): string | null {
  return workspaces === null ? null : JSON.stringify(workspaces);
}

/** What a key that somebody made may be used for in a workspace: nothing, once he may not be there himself. */
export type MakerRights = (account: string, workspace: string) => readonly Scope[];

/** By all memberships of one person. Whoever runs the installation may be in every account. */
export function makerRightsOf(memberships: readonly Membership[]): MakerRights {
  const house = memberships.find((one) => memberMay(one, 'house.write', one.account));
  return (account, workspace) => {
    const rights = memberships.find((one) => one.account === account) ?? house;
    if (rights === undefined || !(rights.workspaces?.includes(workspace) ?? true)) return [];
    if (!memberMay(rights, 'keys.write', account)) return [];
    // The scope `admin` stands for the role of that name, in the whole account.
    return memberMay(rights, 'settings.write', account) ? ['inference', 'usage', 'admin'] : ['inference', 'usage'];
  };
}

/** What the keys of each person may do, by all memberships there are. */
export function makersOf(memberships: readonly Membership[]): ReadonlyMap<string, MakerRights> {
  const byPerson = Map.groupBy(memberships, ({ person }) => person);
  return new Map([...byPerson].map(([person, own]) => [person, makerRightsOf(own)]));
}
