/** Tests which keys the list shows for the filters in its address. */
import { expect, test } from 'bun:test';
import { filterKeys, type Key } from './key.ts';

const key = (name: string, status: Key['status'], workspace = 'default'): Key => ({
  id: `key_${name}`,
  name,
  last4: 'Ab12',
  workspace,
  owner: { id: 'p1', name: 'Ada Lovelace' },
  models: null,
  ips: null,
  scopes: ['inference'],
  strict: false,
  tags: { team: name },
  caps: { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null },
  status,
  disabled_by: null,
  created_at: '2026-11-01T00:00:00.000Z',
  expires_at: null,
  rotation: null,
  last_used: null,
  budget: null,
  week_nano_usd: ['0', '0', '0', '0', '0', '0', '0'],
  week_requests: [0, 0, 0, 0, 0, 0, 0],
});
const KEYS = [key('web', 'active'), key('ci', 'disabled', 'tests'), key('old', 'revoked')];
const names = (filters: Record<string, string>) => filterKeys(KEYS, filters).map(({ name }) => name);

test('shows revoked keys only on request', () => {
  expect(names({})).toEqual(['web', 'ci']);
  expect(names({ status: 'all' })).toEqual(['web', 'ci', 'old']);
  expect(names({ status: 'revoked' })).toEqual(['old']);
});

test('matches every word in any case', () => {
  expect(names({ q: 'ADA ci' })).toEqual(['ci']);
  expect(names({ q: 'ab12', workspace: 'tests' })).toEqual(['ci']);
  expect(names({ q: 'nothing' })).toEqual([]);
});
