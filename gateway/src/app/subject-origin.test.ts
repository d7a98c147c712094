/**
 * Tests which account a budget's subject belongs to, and that for a new subject no more is read than it can have spent.
 */
import { expect, test } from 'bun:test';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import { bind, totalOf } from '../store/testing/sample-claims.ts';
import { accountOf, sinceMade } from './open-money.ts';

const MADE_MS = 1_790_000_000_000;
const made = { accountId: 'team', createdAtMs: MADE_MS };
const directory = {
  keys: new Map([['k', made as StoredKey]]),
  workspaces: new Map([['w', made as StoredWorkspace]]),
  accounts: new Map([['team', made as unknown as StoredAccount]]),
};

test.each([
  ['key', 'k', 'team'],
  ['key', 'gone', null],
  ['workspace', 'w', 'team'],
  ['account', 'team', 'team'],
  ['model', 'own', ''],
  ['end_user', 'team/a/b', 'team'],
  ['end_user', 'team/*', null],
] as const)('the %s %s is of the account %p', (kind, id, account) => {
  expect(accountOf({ kind, id }, directory)).toBe(account);
});

test.each([
  ['key', 'k', 0, MADE_MS - 3_600_000],
  ['key', 'k', MADE_MS + 5, MADE_MS + 5],
  ['key', 'gone', 0, 0],
  ['workspace', 'w', 0, MADE_MS - 3_600_000],
  ['account', 'team', 0, MADE_MS - 3_600_000],
  ['model', 'k', 0, 0],
] as const)('of the %s %s a window from %d is read from %d', (kind, id, startMs, readMs) => {
  const binding = bind(totalOf(1n), { kind, id }, { startMs, endMs: null });
  expect(sinceMade(binding, directory)).toEqual({ ...binding, windowStartMs: readMs });
});
