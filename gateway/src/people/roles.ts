/** Owns what each role may do: one static table. Knows no person, no request and no route. Source: console design, 2026-11. */
import type { MembershipRow } from '../store/ports/people.ts';
import type { Scope } from '../store/ports/records.ts';

export const ROLES = ['owner', 'admin', 'billing', 'developer', 'viewer'] as const;
/** What a member is to an account. */
export type Role = (typeof ROLES)[number];

/** What is given to a member. */
export interface MemberRights {
  readonly role: Role;
  /** Null: every workspace of the account. */
  readonly workspaces: readonly string[] | null;
}

export const PERMISSIONS = [
  'usage.read',
  'logs.read',
  /** What was said in a call, where the workspace keeps it. */
  'content.read',
  'models.read',
  'keys.read',
  /** Own keys; with `keys.manage` everybody's. */
  'keys.write',
  'keys.manage',
  'limits.read',
  'limits.write',
  'workspaces.read',
  'workspaces.write',
  'members.read',
  'members.write',
  /** Owners make and unmake owners; nobody else. */
  'owners.write',
  'billing.read',
  'audit.read',
  'settings.read',
  'settings.write',
  /** The installation's own: accounts, money that comes in, providers and prices. Of the account `default` only. */
  'house.read',
  'house.write',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const READS = ['usage.read', 'logs.read', 'models.read', 'keys.read', 'limits.read', 'workspaces.read'] as const;
const ADMIN: readonly Permission[] = [
  ...READS,
  'content.read',
  'keys.write',
  'keys.manage',
  'limits.write',
  'workspaces.write',
  'members.read',
  'members.write',
  'billing.read',
  'audit.read',
  'settings.read',
  'settings.write',
  'house.read',
  'house.write',
];

const TABLE: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set([...ADMIN, 'owners.write']),
  admin: new Set(ADMIN),
  billing: new Set(['usage.read', 'limits.read', 'billing.read', 'models.read', 'workspaces.read', 'house.read']),
  developer: new Set([...READS, 'content.read', 'keys.write']),
  viewer: new Set(READS),
};

/** Of an account as a whole, or of the installation: who is restricted to workspaces has none of it, whatever his role. */
const WHOLE_ACCOUNT: ReadonlySet<Permission> = new Set([
  'owners.write',
  'billing.read',
  'settings.read',
  'settings.write',
  'house.read',
  'house.write',
]);

/** The account whose people run the installation. */
export const HOUSE_ACCOUNT = 'default';

/** Whether a member of the whole account with this role may do it there. What is the installation's is the house's alone. */
export function roleMay(role: Role, permission: Permission, account: string): boolean {
  if (permission.startsWith('house.') && account !== HOUSE_ACCOUNT) return false;
  return TABLE[role].has(permission);
}

/** Whether a member with these rights may do it there. */
export function memberMay({ role, workspaces }: MemberRights, permission: Permission, account: string): boolean {
  return !(workspaces !== null && isOfWholeAccount(permission)) && roleMay(role, permission, account);
}

/** Whether nobody has the permission whose membership is restricted to workspaces. */
export function isOfWholeAccount(permission: Permission): boolean {
  return WHOLE_ACCOUNT.has(permission);
}

/** All that a member may do in an account, in the order of the table. */
export function permissionsOf(rights: MemberRights, account: string): readonly Permission[] {
  return PERMISSIONS.filter((permission) => memberMay(rights, permission, account));
}

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
