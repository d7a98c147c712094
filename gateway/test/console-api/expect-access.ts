/** Computes from the tables of routes and roles who may access a request: a short, independent version for tests. */
import type { RouteRow } from '../../src/console-api/contract/row.ts';
import { OPERATOR_ACCOUNT, type Permission, type Role, roleMay } from '../../src/people/roles.ts';

export type Caller =
  | { readonly kind: 'anonymous' }
  /** `restricted`: to some workspaces of the account. */
  | { readonly kind: 'member'; readonly role: Role; readonly account: string; readonly restricted: boolean }
  | { readonly kind: 'key'; readonly scope: 'usage' | 'admin' | 'inference'; readonly account: string };

/** `in`: the route is reached, whatever it answers. Otherwise the error code of the refusal. */
export type Access = 'in' | 'signed_out' | 'forbidden' | 'not_found';

const USAGE_KEY: readonly Permission[] = ['usage.read', 'logs.read', 'models.read', 'keys.read', 'limits.read'];

/** Permissions on a whole account or the installation: not for members restricted to workspaces. */
const NOT_RESTRICTED: readonly (Permission | 'anyone' | 'person')[] = [
  'owners.write',
  'guardrails.hooks',
  'billing.read',
  'alerts.read',
  'alerts.write',
  'settings.read',
  'settings.write',
  'operator.read',
  'operator.write',
];

/** `account`: from the path; a route without one belongs to the installation. */
export function expectAccess(caller: Caller, row: RouteRow, account: string): Access {
  const { access } = row;
  if (caller.kind === 'key' && caller.scope === 'inference') return 'forbidden';
  if (access === 'anyone') return 'in';
  if (caller.kind === 'anonymous') return 'signed_out';
  if (caller.kind === 'key' && (access === 'person' || row.peopleOnly === true)) return 'forbidden';
  if (access === 'person') return 'in';
  const role = caller.kind === 'member' ? caller.role : 'admin';
  const isRestricted = caller.kind === 'member' && caller.restricted;
  const isOperator =
    caller.account === OPERATOR_ACCOUNT &&
    !isRestricted &&
    (caller.kind === 'member' || caller.scope === 'admin') &&
    roleMay(role, 'operator.write', OPERATOR_ACCOUNT);
  if (account !== caller.account && !isOperator) return 'not_found';
  if (caller.kind === 'key' && caller.scope === 'usage') return USAGE_KEY.includes(access) ? 'in' : 'forbidden';
  if (isRestricted && (row.wholeAccount === true || NOT_RESTRICTED.includes(access))) return 'forbidden';
  return roleMay(role, access, access.startsWith('operator.') ? caller.account : account) ? 'in' : 'forbidden';
}
