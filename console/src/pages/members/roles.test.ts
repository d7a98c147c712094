/** Tests that the role descriptions match the gateway's own table, and who may change whose role. */
import { describe, expect, test } from 'bun:test';
import {
  type PERMISSIONS,
  permissionsOf,
  roleMay,
  ROLES as TABLE_ROLES,
} from '../../../../gateway/src/people/roles.ts';
import { grantableRoles, lockOf, type Member, mayReset, ROLES, roleText } from './roles.ts';

const member = (person: string, role: Member['role']): Member => ({
  person,
  name: person,
  email: `${person}@example.com`,
  email_verified: false,
  role,
  workspaces: null,
  elsewhere: false,
  second_factor: false,
  joined_at: '2026-11-01T00:00:00Z',
  seen_at: null,
});
const mayAs = (role: Member['role']) => (permission: (typeof PERMISSIONS)[number]) =>
  roleMay(role, permission, 'default');

describe('role descriptions', () => {
  test('every role has a description, and operators a longer one', () => {
    expect([...ROLES].sort()).toEqual([...TABLE_ROLES].sort());
    for (const role of ROLES) {
      const isOperator = permissionsOf({ role, workspaces: null }, 'default').some((one) =>
        one.startsWith('operator.'),
      );
      expect(roleText(role, 'default').length > roleText(role, 'other').length).toBe(isOperator);
    }
  });
  test('descriptions match the permissions', () => {
    const may = (role: Member['role'], permission: (typeof PERMISSIONS)[number]) => roleMay(role, permission, 'other');
    expect(may('billing', 'logs.read') || may('billing', 'keys.read')).toBe(false);
    expect(may('billing', 'billing.read')).toBe(true);
    expect(may('developer', 'keys.write') && may('developer', 'content.read')).toBe(true);
    expect(may('developer', 'keys.manage')).toBe(false);
    expect(permissionsOf({ role: 'viewer', workspaces: null }, 'other').every((one) => one.endsWith('.read'))).toBe(
      true,
    );
    expect(may('admin', 'owners.write')).toBe(false);
  });
});

describe('role permissions', () => {
  test('only an owner can grant the owner role', () => {
    expect(grantableRoles(mayAs('owner'))).toContain('owner');
    expect(grantableRoles(mayAs('admin'))).not.toContain('owner');
  });
  test('the last owner can’t be removed, one of two can', () => {
    const [ada, bo, eve] = [member('ada', 'owner'), member('bo', 'owner'), member('eve', 'viewer')];
    expect(lockOf(ada, [ada, eve], mayAs('owner'))).toContain('last owner');
    expect(lockOf(ada, [ada, bo, eve], mayAs('owner'))).toBeNull();
    expect(lockOf(ada, [ada, bo, eve], mayAs('admin'))).toContain('Only an owner');
    expect(lockOf(eve, [ada, eve], mayAs('admin'))).toBeNull();
    expect(lockOf(eve, [ada, eve], mayAs('viewer'))).not.toBeNull();
  });
  test('a member with other workspaces can’t be changed', () => {
    const eve = { ...member('eve', 'viewer'), elsewhere: true };
    expect(lockOf(eve, [eve], mayAs('admin'))).toContain('workspaces that you don’t');
    expect(mayReset(eve, 'ada', mayAs('admin'))).toBe(false);
  });
});

test('offers a password reset for others: owners for all, admins for all but owners', () => {
  const offered = (by: Member['role'], of: Member['role']) => mayReset(member('b', of), 'a', mayAs(by));
  expect([offered('owner', 'owner'), offered('admin', 'admin'), offered('admin', 'owner')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(offered('developer', 'viewer')).toBe(false);
  const verified = { ...member('b', 'viewer'), email_verified: true };
  expect(mayReset(verified, 'a', mayAs('owner'))).toBe(true);
  expect(mayReset(verified, 'a', (permission) => permission !== 'operator.write')).toBe(false);
  expect(mayReset(member('a', 'viewer'), 'a', mayAs('owner'))).toBe(false);
});
