/** Describes each role, and lists the roles a user may grant. The gateway defines and enforces the permissions. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { Permission } from '../../lib/session.ts';

export type Member = Reply<'GET /accounts/{account}/members'>['members'][number];
export type Invitation = Reply<'GET /accounts/{account}/members'>['invitations'][number];
export type Role = Member['role'];

/** From the most permissions to the fewest. */
export const ROLES: readonly Role[] = ['owner', 'admin', 'billing', 'developer', 'viewer'];

const WORDS: Readonly<Record<Role, string>> = {
  owner: 'Full access to all workspaces. Only owners can add and remove owners.',
  admin: 'Manages API keys, limits, workspaces, members and settings, and views the audit log.',
  billing: 'Views usage, limits and the ledger, but not logs or API keys.',
  developer: 'Creates and edits their own API keys. Views usage and logs, including stored prompts and responses.',
  viewer: 'Views usage, logs, API keys and limits. Can’t change anything.',
};
const OPERATOR_TEXTS: Partial<Record<Role, string>> = {
  owner: 'Operates the gateway: accounts, providers and prices.',
  admin: 'Operates the gateway: accounts, providers and prices.',
  billing: 'Views the gateway’s accounts and providers.',
};

/** One or two sentences. The account `default` operates the installation. */
export function roleText(role: Role, account: string): string {
  const operator = account === 'default' ? OPERATOR_TEXTS[role] : undefined;
  return operator === undefined ? WORDS[role] : `${WORDS[role]} ${operator}`;
}

/** The roles that a user with these permissions may grant: only an owner may grant the owner role. */
export function grantableRoles(may: (permission: Permission) => boolean): readonly Role[] {
  return may('owners.write') ? ROLES : ROLES.filter((role) => role !== 'owner');
}

/** Why this user cannot change or remove a member; null: they can. */
export function lockOf(
  member: Member,
  members: readonly Member[],
  may: (permission: Permission) => boolean,
): string | null {
  if (!may('members.write')) return 'Only owners and admins can change members.';
  if (member.elsewhere)
    return 'Has access to workspaces that you don’t. Only an owner or admin of the whole account can change this member.';
  if (member.role !== 'owner') return null;
  if (!may('owners.write')) return 'Only an owner can change or remove an owner.';
  const isLast = members.filter(({ role }) => role === 'owner').length === 1;
  return isLast ? 'The last owner can’t be removed. Make another member an owner first.' : null;
}

/**
 * Whether a password reset link is offered. The gateway also checks the member's other accounts, which are not visible
 * here.
 */
export function mayReset(member: Member, self: string | null, may: (permission: Permission) => boolean): boolean {
  if (member.person === self || member.elsewhere || !may('members.write')) return false;
  // A verified user can join other accounts, which a new password would open too.
  if (member.email_verified && !may('operator.write')) return false;
  return member.role !== 'owner' || may('owners.write');
}
