/**
 * Finds the resource that a path names, within the caller's rights. A resource of another account or workspace counts
 * as not found.
 */
import type { StoredAccount } from '../../store/ports/policy.ts';
import type { Scope, StoredKey, StoredWorkspace } from '../../store/ports/records.ts';
import type { PolicyParts } from '../policy/policy-parts.ts';
import type { Actor, Tenancy } from './actor.ts';
import { ConsoleFailure } from './console-failure.ts';

type Directory = Pick<PolicyParts, 'deps'>;

interface Asking {
  readonly actor: Actor;
  readonly tenancy: Tenancy;
}

export function seesWorkspace({ workspaces }: Tenancy, id: string): boolean {
  return workspaces === null || workspaces.includes(id);
}

/** Throws `not_found`. */
export function findKey({ deps }: Directory, tenancy: Tenancy, id: string): StoredKey {
  const key = deps.directory.keys.get(id);
  if (key !== undefined && key.accountId === tenancy.account && seesWorkspace(tenancy, key.workspaceId)) return key;
  throw new ConsoleFailure('not_found', 'there is no such key; see the list of keys', { page: '/app/keys' });
}

/** Throws `not_found`. */
export function findWorkspace({ deps }: Directory, tenancy: Tenancy, id: string): StoredWorkspace {
  const workspace = deps.directory.workspaces.get(id);
  if (workspace !== undefined && workspace.accountId === tenancy.account && seesWorkspace(tenancy, id))
    return workspace;
  throw new ConsoleFailure('not_found', 'there is no such workspace; see the list of workspaces', {
    member: 'workspace',
    page: '/app/workspaces',
  });
}

/** Throws `not_found`. */
export function findAccount({ deps }: Directory, { account: id }: Tenancy): StoredAccount {
  const account = deps.directory.accounts.get(id);
  if (account !== undefined) return account;
  throw new ConsoleFailure('not_found', 'there is no such account; see the list of accounts', { page: '/app/billing' });
}

/** A key that the caller may change: their own, or any with `keys.manage`. Throws `not_found` or `forbidden`. */
export function findOwnKey(parts: Directory, { actor, tenancy }: Asking, id: string): StoredKey {
  const key = findKey(parts, tenancy, id);
  const me = personBehind(parts, actor);
  if (tenancy.may('keys.manage') || (me !== null && key.createdBy === me)) return key;
  throw new ConsoleFailure(
    'forbidden',
    'this key belongs to another member; you can change only keys that you created. Ask its owner, or an admin of the account',
    { page: '/app/keys' },
  );
}

/**
 * The person whose rights limit a new key; null: no person. A key created with another key belongs to that key's
 * creator.
 */
export function personBehind({ deps }: Directory, actor: Actor): string | null {
  if (actor.kind === 'person') return actor.id;
  return actor.kind === 'key' ? (deps.directory.keys.get(actor.id)?.createdBy ?? null) : null;
}

/** Throws `forbidden` where a key with these scopes could do more than the caller. */
export function checkScopes({ tenancy }: Asking, scopes: readonly Scope[]): void {
  if (!scopes.includes('admin')) return;
  // A key with the scope `admin` is an admin of the whole account.
  if (tenancy.may('keys.manage') && tenancy.may('settings.write')) return;

  throw new ConsoleFailure(
    'forbidden',
    `scopes: found admin, which only an owner or admin of the whole account can grant; leave it out`,
    {
      member: 'scopes',
      page: '/app/members',
    },
  );
}

/** Throws `forbidden` for a caller who is restricted to some workspaces. */
export function requireWholeAccount({ workspaces }: Tenancy, what: string): void {
  if (workspaces === null) return;
  throw new ConsoleFailure(
    'forbidden',
    `${what} of the whole account, and your membership is restricted to workspaces; ask an owner or admin of the account`,
    { page: '/app/members' },
  );
}
