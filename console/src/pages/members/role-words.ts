/** Describes each role, and lists the roles a user may grant. The gateway defines and enforces the permissions. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import type { Permission } from '../../lib/session.ts';

export type Member = Reply<'GET /accounts/{account}/members'>['members'][number];
export type Invitation = Reply<'GET /accounts/{account}/members'>['invitations'][number];
export type Role = Member['role'];

/** From the most permissions to the fewest. */
export const ROLES: readonly Role[] = ['owner', 'admin', 'billing', 'developer', 'viewer'];

const WORDS: Readonly<Record<Role, string>> = {
  owner: 'Everything, and alone makes and unmakes owners. Has every workspace.',
  admin: 'Everything but owners: keys, limits, workspaces, members, audit, settings.',
  billing: 'Sees usage, limits and the ledger. No calls, no keys.',
  developer: 'Makes and changes keys of their own. Sees usage and calls, with what was said where it is kept.',
  viewer: 'Sees usage, calls, keys and limits. Changes nothing.',
};
const OPERATOR_WORDS: Partial<Record<Role, string>> = {
  owner: 'Runs the installation: accounts, providers, prices.',
  admin: 'Runs the installation: accounts, providers, prices.',
  billing: 'Sees the installation’s accounts and providers.',
};

/** One or two sentences. The account `default` operates the installation. */
export function roleWords(role: Role, account: string): string {
  const house = account === 'default' ? OPERATOR_WORDS[role] : undefined;
  return house === undefined ? WORDS[role] : `${WORDS[role]} ${house}`;
}

/** The roles that a user with these permissions may grant: only an owner may grant the owner role. */
export function rolesToGive(may: (permission: Permission) => boolean): readonly Role[] {
  return may('owners.write') ? ROLES : ROLES.filter((role) => role !== 'owner');
}

/** Why this user cannot change or remove a member; null: they can. */
export function lockOf(
  member: Member,
  members: readonly Member[],
  may: (permission: Permission) => boolean,
): string | null {
  if (!may('members.write')) return 'Only owners and admins change members.';
  if (member.elsewhere) return 'Has workspaces that you do not have; an owner or admin of the whole account can.';
  if (member.role !== 'owner') return null;
  if (!may('owners.write')) return 'Only an owner changes or removes an owner.';
  const isLast = members.filter(({ role }) => role === 'owner').length === 1;
  return isLast ? 'The last owner stays; make somebody else an owner first.' : null;
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
