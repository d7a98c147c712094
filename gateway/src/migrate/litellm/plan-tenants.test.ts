/** Tests what becomes of LiteLLM's tenants and keys, from rows as its database exports them. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { createNotes } from './notes.ts';
import { planTenants, type TenantSource } from './plan-tenants.ts';
import { readExport } from './read-export.ts';
import type { Row } from './table-row.ts';

const newFolder = temporaryFolders();
const NOW_MS = Date.UTC(2026, 10, 23);
const LATER = '2026-12-01T00:00:00';
const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');
const key = (name: string, row: Row = {}): Row => ({ token: hash(name), key_alias: name, spend: '0', ...row });

function plan(tables: Readonly<Record<string, readonly Row[]>>, more: Partial<TenantSource> = {}) {
  const notes = createNotes();
  const named = Object.entries(tables).map(([name, rows]) => [`LiteLLM_${name}`, rows] as const);
  const base = { accessGroups: new Map(), proxyBudget: null, timeZone: 'UTC', nowMs: NOW_MS };
  return { ...planTenants({ ...base, tables: new Map(named), notes, ...more }), notes: notes.list() };
}

test('teams of the same name get ids of their own, the same in each run', () => {
  const tables = { TeamTable: ['one', 'two'].map((team_id) => ({ team_id, team_alias: 'R & D' })) };
  const ids = plan(tables).workspaces.map(({ id }) => id);
  expect(ids).toEqual(['r-d', expect.stringMatching(/^r-d-[0-9a-f]{8}$/)]);
  expect(plan(tables).workspaces.map(({ id }) => id)).toEqual(ids);
});

test('names without a usable character, and those of our own, are replaced', () => {
  const tables = { TeamTable: ['日本', 'default', '-_-'].map((team_alias, n) => ({ team_id: String(n), team_alias })) };
  for (const { id } of plan(tables).workspaces) expect(id).toMatch(/^(?!default$)[a-z0-9][a-z0-9_-]{0,63}$/);
});

test('keys belong to their team, else to their user, else to the workspace default', () => {
  const { keys, workspaces, notes } = plan({
    TeamTable: [{ team_id: 't', team_alias: 'Team' }],
    UserTable: [
      { user_id: 'u', user_alias: 'Ada', max_budget: '5', budget_duration: '1d', budget_reset_at: LATER, spend: '2' },
      { user_id: 'idle', max_budget: '1' },
    ],
    VerificationToken: [
      key('team', { team_id: 't', user_id: 'u' }),
      key('user', { user_id: 'u' }),
      key('admin', { user_id: 'default_user_id' }),
      key('lost', { team_id: 'gone' }),
      key('console', { team_id: 'litellm-dashboard' }),
      { ...key('odd'), token: 'not-a-hash' },
    ],
  });
  expect(workspaces).toMatchObject([
    { id: 'team', models: null },
    { id: 'user-ada', budget_usd: '5', budget_window: 'day', spent_usd: '2', spent_window: 'day' },
  ]);
  expect(keys.map((each) => [each.name, 'workspace' in each ? each.workspace : null])).toEqual([
    ['team', { foreign_id: 'team t', id: 'team' }],
    ['user', { foreign_id: 'user u', id: 'user-ada' }],
    ['admin', { foreign_id: null, id: 'default' }],
    ['lost', { foreign_id: null, id: 'default' }],
  ]);
  const names = new Map(notes.map((note) => [note.what, note.names]));
  expect(names.get('team_id')).toEqual(['lost']);
  expect(names.get('keys of its console')).toEqual(['console']);
  expect(names.get('LiteLLM_VerificationToken.token')).toEqual(['odd']);
  expect(names.get('limits of users')).toEqual(['idle']);
});

test('models are listed by name, access group or special word', () => {
  const models = (list: readonly string[]) =>
    plan({ VerificationToken: [key('k', { models: list })] }, { accessGroups: new Map([['cheap', ['a', 'b']]]) })
      .keys[0]?.models;
  expect(models([])).toBeNull();
  expect(models(['all-proxy-models'])).toBeNull();
  expect(models(['all-team-models'])).toBeNull();
  expect(models(['cheap', 'b', 'openai/*'])).toEqual(['a', 'b', 'openai/*']);
  expect(models(['no-default-models'])).toEqual([]);
});

test('blocked keys, keys of blocked teams and limits of 0 are disabled keys', () => {
  const { keys } = plan({
    TeamTable: [{ team_id: 't', blocked: true }],
    VerificationToken: [
      key('a', { blocked: true }),
      key('b', { team_id: 't' }),
      key('c', { rpm_limit: '0' }),
      key('d'),
    ],
  });
  expect(keys.map((each) => ('status' in each ? each.status : ''))).toEqual([
    'disabled',
    'disabled',
    'disabled',
    'active',
  ]);
});

test('a rotated key keeps its former secret while it works there', () => {
  const { keys } = plan({
    VerificationToken: [key('k')],
    DeprecatedVerificationToken: [
      { token: hash('old'), active_token_id: hash('k'), revoke_at: LATER },
      { token: hash('older'), active_token_id: hash('k'), revoke_at: '2026-01-01 00:00:00' },
    ],
  });
  expect(keys).toMatchObject([{ previous: { sha256: hash('old'), until: '2026-12-01T00:00:00.000Z' } }]);
});

test('the budget of the proxy is that of the account default, unless there are several accounts', () => {
  const proxyBudget = { max_budget: '100', budget_duration: '30d' };
  const UserTable = [{ user_id: 'litellm-proxy-budget', spend: '12.5' }];
  expect(plan({ UserTable }, { proxyBudget }).accounts).toMatchObject([
    { id: 'default', budget_usd: '100', budget_window: 'month', spent_usd: '12.5' },
  ]);
  const OrganizationTable = [{ organization_id: 'o', organization_alias: 'Acme' }];
  const { accounts, notes } = plan({ UserTable, OrganizationTable }, { proxyBudget });
  expect(accounts.map(({ id }) => id)).toEqual(['acme']);
  expect(notes.map(({ what }) => what)).toContain('litellm_settings.max_budget');
});

test('exports are read from one JSON file, from JSON lines, and from a folder of both', async () => {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const whole = join(folder, 'all.json');
  writeFileSync(whole, JSON.stringify({ LiteLLM_TeamTable: [{ team_id: 't', spend: 0.1 }], other: 1 }));
  expect(await readExport(whole)).toEqual(new Map([['LiteLLM_TeamTable', [{ team_id: 't', spend: '0.1' }]]]));
  writeFileSync(join(folder, 'LiteLLM_TeamTable.jsonl'), '{"team_id":"a"}\n{"team_id":"b"}\n');
  writeFileSync(join(folder, 'LiteLLM_UserTable.csv'), 'user_id,spend\nu,\n');
  const tables = await readExport(folder);
  expect(tables.get('LiteLLM_TeamTable')).toEqual([{ team_id: 'a' }, { team_id: 'b' }]);
  expect(tables.get('LiteLLM_UserTable')).toEqual([{ user_id: 'u', spend: null }]);
  writeFileSync(join(folder, 'LiteLLM_UserTable.csv'), 'user_id,spend\nu,1,2\n');
  expect(String(await readExport(folder).catch((fault: unknown) => fault))).toContain('line 2: found 3 fields');
  writeFileSync(join(folder, 'LiteLLM_UserTable.json'), '[]');
  expect(String(await readExport(folder).catch((fault: unknown) => fault))).toMatch(/two files|line 2/);
});
