/**
 * Tests the layer that migrated rules of earlier releases get: the account's own only if the account's members alone
 * set them.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { migrate } from '../database/migrate.ts';
import { MIGRATIONS } from './migrations.ts';

const rules = (database: Database) =>
  database
    .query<{ rule: string }, []>("SELECT kind || ' ' || id || ' ' || layer AS rule FROM limit_rule")
    .all()
    .map(({ rule }) => rule);

test('rules that the people of an account alone set are its own, all others are the operator’s', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(
    database,
    1,
    MIGRATIONS.filter(({ version }) => version < 22),
  );
  database.run("INSERT INTO account (id, created_at_ms) VALUES ('team', 1)");
  database.run("INSERT INTO workspace (id, account_id, created_at_ms) VALUES ('red', 'team', 1)");
  const key = (id: string, account: string, workspace: string, disabledBy: string | null) =>
    database.run(
      `INSERT INTO api_key (id, name, account_id, workspace_id, hash, last4, scopes, status, created_at_ms, disabled_by)
        VALUES (?, 'n', ?, ?, ?, 'last', '[]', ?, 1, ?)`,
      [id, account, workspace, id, disabledBy === null ? 'active' : 'disabled', disabledBy],
    );
  key('key_red', 'team', 'red', 'command_line');
  key('key_own', 'team', 'red', 'per_own');
  key('key_house', 'default', 'default', 'command_line');
  database.run('PRAGMA foreign_keys = OFF');
  const member = (person: string, account: string) =>
    database.run("INSERT INTO membership (person, account, role, joined_at_ms) VALUES (?, ?, 'admin', 1)", [
      person,
      account,
    ]);
  member('per_own', 'team');
  member('per_both', 'team');
  member('per_both', 'default');
  const rule = (kind: string, id: string) =>
    database.run('INSERT INTO limit_rule (kind, id, requests_per_minute) VALUES (?, ?, 5)', [kind, id]);
  const audited = (
    kind: string,
    id: string,
    actorKind: string,
    actor: string,
    after: object = { rpm: 5 },
    account = 'team',
  ) =>
    database.run(
      `INSERT INTO audit_entry (at_ms, account, actor_kind, actor_id, actor_name, act, subject_kind, subject_id, after)
        VALUES (1, ?, ?, ?, 'n', 'limits.set', ?, ?, ?)`,
      [account, actorKind, actor, kind, id, JSON.stringify(after)],
    );
  for (const [kind, id] of [
    ['key', 'key_red'],
    ['key', 'key_own'],
    ['key', 'key_house'],
    ['workspace', 'red'],
    ['account', 'team'],
    ['end_user', 'team/own'],
    ['end_user', 'team/raised'],
    ['end_user', 'team/both'],
    ['model', 'm'],
  ] as const)
    rule(kind, id);
  audited('key', 'key_red', 'command_line', 'command_line');
  // Another change by the command line set no cap.
  audited('key', 'key_own', 'command_line', 'command_line', { name: 'n' });
  audited('key', 'key_own', 'person', 'per_own');
  audited('key', 'key_house', 'person', 'per_both', { rpm: 5 }, 'default');
  audited('workspace', 'red', 'key', 'key_own');
  audited('account', 'team', 'person', 'per_gone');
  audited('end_user', 'team/own', 'person', 'per_own');
  audited('end_user', 'team/raised', 'command_line', 'command_line');
  audited('end_user', 'team/raised', 'person', 'per_own');
  audited('end_user', 'team/both', 'person', 'per_both');
  migrate(database, 2);
  expect(rules(database).sort()).toEqual([
    'account team operator',
    'end_user team/both operator',
    'end_user team/own account',
    'end_user team/raised operator',
    'key key_house operator',
    'key key_own account',
    'key key_red operator',
    'model m operator',
    'workspace red account',
  ]);
  expect(database.query('SELECT id FROM api_key WHERE disabled_by_operator = 1').all()).toEqual([{ id: 'key_red' }]);
  database.close();
});
