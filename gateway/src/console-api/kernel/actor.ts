/** Identifies the actor of a console request by session or API key, and computes their rights in an account. */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { KeyDirectory } from '../../identity/key-directory.ts';
import { authenticate, mayComeFrom } from '../../identity/principal.ts';
import { type MemberRights, memberMay, PERMISSIONS, type Permission, roleMay } from '../../people/roles.ts';
import type { Arrival } from '../../people/sign-in/auth-cookies.ts';
import type { Sessions } from '../../people/sign-in/sessions.ts';
import type { Scope } from '../../store/ports/records.ts';

/** A person's rights in one account. */
export interface Grant extends MemberRights {
  readonly account: string;
}

export type Actor =
  | { readonly kind: 'anonymous' }
  | {
      readonly kind: 'person';
      readonly id: string;
      readonly name: string;
      readonly email: string;
      readonly sessionId: string;
      readonly grants: readonly Grant[];
    }
  | {
      readonly kind: 'key';
      readonly id: string;
      readonly name: string;
      readonly account: string;
      readonly workspace: string;
      readonly scopes: readonly Scope[];
    };

/** An actor's rights in one account: the tenant of every query made for them. */
export interface Tenancy {
  readonly account: string;
  /** The workspaces whose content the actor may see; null: all of the account. */
  readonly workspaces: readonly string[] | null;
  may(permission: Permission): boolean;
}

/** The permissions of the scope `usage`, in the key's own workspace. */
const USAGE_SCOPE: ReadonlySet<Permission> = new Set([
  'usage.read',
  'logs.read',
  'models.read',
  'keys.read',
  'limits.read',
]);

/** The actor's rights in the account; null: they have none there, and are not told whether it exists. */
export function tenancyOf(actor: Actor, account: string): Tenancy | null {
  if (actor.kind === 'anonymous') return null;
  if (actor.kind === 'key') return keyTenancy(actor, account);
  const grant = actor.grants.find((one) => one.account === account) ?? operatorGrant(actor.grants, account);
  if (grant === null) return null;
  return {
    account,
    workspaces: grant.workspaces,
    may: (permission) => grantMay(actor.grants, grant, permission, account),
  };
}

/** Operators of the installation may enter every account, except those restricted to workspaces. */
function operatorGrant(grants: readonly Grant[], account: string): Grant | null {
  const operator = grants.find((grant) => memberMay(grant, 'operator.write', grant.account));
  return operator === undefined ? null : { account, role: operator.role, workspaces: null };
}

/** Whether the actor may change installation-wide data, in any account. */
export function isOperator(actor: Actor): boolean {
  if (actor.kind === 'anonymous') return false;
  if (actor.kind === 'key') return actor.scopes.includes('admin') && roleMay('admin', 'operator.write', actor.account);
  return actor.grants.some((grant) => memberMay(grant, 'operator.write', grant.account));
}

/** An account that a person may enter, with all their permissions there. */
export interface Entry extends Grant {
  readonly permissions: readonly Permission[];
  /** False: an operator of the installation who is not a member. */
  readonly isMember: boolean;
}

/** The accounts in `accounts` that a person may enter, their own first. */
export function entriesOf(grants: readonly Grant[], accounts: readonly string[]): readonly Entry[] {
  const own = grants.map((grant) => ({ ...grant, isMember: true }));
  const others = accounts
    .filter((account) => grants.every((grant) => grant.account !== account))
    .flatMap((account) => operatorGrant(grants, account) ?? [])
    .map((grant) => ({ ...grant, isMember: false }));
  return [...own, ...others].map((grant) => ({
    ...grant,
    permissions: PERMISSIONS.filter((permission) => grantMay(grants, grant, permission, grant.account)),
  }));
}

/** A `operator.` permission applies from the account that grants it, wherever it is used. */
function grantMay(grants: readonly Grant[], grant: Grant, permission: Permission, account: string): boolean {
  if (permission.startsWith('operator.')) return grants.some((one) => memberMay(one, permission, one.account));
  return memberMay(grant, permission, account);
}

function keyTenancy(
  { account: own, workspace, scopes }: Extract<Actor, { kind: 'key' }>,
  account: string,
): Tenancy | null {
  const isAdmin = scopes.includes('admin');
  const isOperator = isAdmin && roleMay('admin', 'operator.write', own);
  if (account !== own && !isOperator) return null;
  if (!isAdmin && !scopes.includes('usage')) return null;
  return {
    account,
    workspaces: isAdmin ? null : [workspace],
    may: (permission) => (isAdmin ? roleMay('admin', permission, own) : USAGE_SCOPE.has(permission)),
  };
}

interface IdentifyParts {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly directory: KeyDirectory;
  nowMs(): number;
}

/** The returned function throws ConsoleFailure for an invalid key or one that may not be used here. */
export function createIdentify({ sessions, directory, nowMs }: IdentifyParts): (arrival: Arrival) => Promise<Actor> {
  return async (arrival) => {
    const signedIn = await sessions.find(arrival);
    if (signedIn !== null) {
      const { person, session, memberships } = signedIn;
      const { id, name, email } = person;
      return { kind: 'person', id, name, email, sessionId: session.id, grants: memberships };
    }
    const authorization = arrival.headers.get('authorization');
    return authorization === null
      ? { kind: 'anonymous' }
      : identifyKey(directory, authorization, arrival.address, nowMs());
  };
}

function identifyKey(directory: KeyDirectory, authorization: string, address: string | null, atMs: number): Actor {
  const [, keyText] = /^bearer (.+)$/i.exec(authorization.trim()) ?? [];
  const principal = keyText === undefined ? 'malformed' : authenticate(directory, keyText.trim(), atMs);
  if (typeof principal === 'string') {
    throw new ConsoleFailure('wrong_credential', `the API key is not valid (${principal}); expected: Bearer tg_…`, {
      page: '/app/keys',
    });
  }
  if (!mayComeFrom(principal, address)) {
    throw new ConsoleFailure('forbidden', 'this API key cannot be used from your address; see its allowed addresses', {
      page: '/app/keys',
    });
  }
  const { keyId, keyName, accountId, workspaceId, scopes } = principal;
  if (!scopes.includes('usage') && !scopes.includes('admin')) {
    throw new ConsoleFailure('forbidden', 'this API key lacks the scopes usage and admin; it needs one of them', {
      page: '/app/keys',
    });
  }
  return { kind: 'key', id: keyId, name: keyName, account: accountId, workspace: workspaceId, scopes };
}

/** Throws `forbidden` for a caller who is restricted to some workspaces. */
export function requireWholeAccount({ workspaces }: Tenancy): void {
  if (workspaces === null) return;
  throw new ConsoleFailure(
    'forbidden',
    'this needs access to the whole account, and your membership is restricted to workspaces; ask an owner or admin of the account',
    { page: '/app/members' },
  );
}
