/**
 * Defines the permissions of each role in a static table, and computes the rights of members and of the keys that they
 * create. Source: console design, 2026-11.
 */
import type { MembershipRow, PeopleStore } from '../store/ports/people.ts';
import type { Scope } from '../store/ports/records.ts';

export const ROLES = ['owner', 'admin', 'billing', 'developer', 'viewer'] as const;
/** A member's role in an account. */
export type Role = (typeof ROLES)[number];

/** The rights granted to a member. */
export interface MemberRights {
  readonly role: Role;
  /** Null: every workspace of the account. */
  readonly workspaces: readonly string[] | null;
}

export const PERMISSIONS = [
  'usage.read',
  'logs.read',
  /** Saved views of requests, for everyone in the account. */
  'views.share',
  /** The content of a call, where the workspace stores it. */
  'content.read',
  'models.read',
  'keys.read',
  /** Own keys; with `keys.manage`, all keys. */
  'keys.write',
  'keys.manage',
  'limits.read',
  'limits.write',
  'workspaces.read',
  'workspaces.write',
  'members.read',
  'members.write',
  /** Adding and removing owners; only owners have it. */
  'owners.write',
  'billing.read',
  'audit.read',
  'alerts.read',
  'alerts.write',
  'guardrails.read',
  'guardrails.write',
  /** Services of others that get the text of requests; only owners have it, and operators of the installation. */
  'guardrails.hooks',
  'settings.read',
  'settings.write',
  /** Installation-wide: accounts, payments received, providers and prices. Only in the account `default`. */
  'operator.read',
  'operator.write',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

const READS = ['usage.read', 'logs.read', 'models.read', 'keys.read', 'limits.read', 'workspaces.read'] as const;
const ADMIN: readonly Permission[] = [
  ...READS,
  'views.share',
  'content.read',
  'keys.write',
  'keys.manage',
  'limits.write',
  'workspaces.write',
  'members.read',
  'members.write',
  'billing.read',
  'audit.read',
  'alerts.read',
  'alerts.write',
  'guardrails.read',
  'guardrails.write',
  'settings.read',
  'settings.write',
  'operator.read',
  'operator.write',
];

const TABLE: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: new Set([...ADMIN, 'owners.write', 'guardrails.hooks']),
  admin: new Set(ADMIN),
  billing: new Set([
    'usage.read',
    'limits.read',
    'billing.read',
    'models.read',
    'workspaces.read',
    'alerts.read',
    'operator.read',
  ]),
  developer: new Set([...READS, 'views.share', 'content.read', 'keys.write']),
  viewer: new Set(READS),
};

/**
 * Permissions for a whole account or the installation: members restricted to workspaces have none of them, whatever
 * their role.
 */
const WHOLE_ACCOUNT: ReadonlySet<Permission> = new Set([
  'owners.write',
  'guardrails.hooks',
  'billing.read',
  'alerts.read',
  'alerts.write',
  'settings.read',
  'settings.write',
  'operator.read',
  'operator.write',
]);

/** The operator's account: its members run the installation. */
export const OPERATOR_ACCOUNT = 'default';

/**
 * Whether a member of the whole account with this role has the permission there. `operator.` permissions exist only in the
 * operator's account.
 */
export function roleMay(role: Role, permission: Permission, account: string): boolean {
  if (permission.startsWith('operator.') && account !== OPERATOR_ACCOUNT) return false;
  return TABLE[role].has(permission);
}

/** Whether a member with these rights has the permission there. */
export function memberMay({ role, workspaces }: MemberRights, permission: Permission, account: string): boolean {
  return !(workspaces !== null && isOfWholeAccount(permission)) && roleMay(role, permission, account);
}

/** Whether members restricted to workspaces never have the permission. */
export function isOfWholeAccount(permission: Permission): boolean {
  return WHOLE_ACCOUNT.has(permission);
}

/** All permissions of a member in an account, in the order of the table. */
export function permissionsOf(rights: MemberRights, account: string): readonly Permission[] {
  return PERMISSIONS.filter((permission) => memberMay(rights, permission, account));
}

export interface Membership extends MemberRights {
  readonly person: string;
  readonly account: string;
  readonly joinedAtMs: number;
}

/** Parses a membership row. */
export function membershipOf(row: MembershipRow): Membership {
  return {
    person: row.person,
    account: row.account,
    role: parseRole(row.role),
    workspaces: parseWorkspaces(row.workspaces),
    joinedAtMs: row.joined_at_ms,
  };
}

/** @throws Error for an unknown role: unknown rights are not guessed. */
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

/** The allowed scopes of a person's keys in a workspace: none once the person has no access to it. */
type MakerRights = (account: string, workspace: string) => readonly Scope[];

/** Computed from all memberships of one person. Operators of the installation have access to every account. */
function makerRightsOf(memberships: readonly Membership[]): MakerRights {
  const operator = memberships.find((one) => memberMay(one, 'operator.write', one.account));
  return (account, workspace) => {
    const rights = memberships.find((one) => one.account === account) ?? operator;
    if (rights === undefined || !(rights.workspaces?.includes(workspace) ?? true)) return [];
    if (!memberMay(rights, 'keys.write', account)) return [];
    // The scope `admin` equals the role of that name, in the whole account.
    return memberMay(rights, 'settings.write', account) ? ['inference', 'usage', 'admin'] : ['inference', 'usage'];
  };
}

/** Returns a function that reads the rights of a person's keys, or (null) of everyone's, from the memberships. */
export function createMakerReader(people: Pick<PeopleStore, 'find'>) {
  return async (person: string | null): Promise<ReadonlyMap<string, MakerRights>> => {
    const rows = await people.find('membership', { where: person === null ? [] : [['person', 'is', person]] });
    const byPerson = Map.groupBy(rows.map(membershipOf), (membership) => membership.person);
    return new Map([...byPerson].map(([id, own]) => [id, makerRightsOf(own)]));
  };
}
