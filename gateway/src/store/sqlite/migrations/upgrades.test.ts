/** Tests the upgrade of a real data folder of the oldest version, and each step's rules for the rows it changes. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { parsePriceVersion } from '../../../billing/price.ts';
import { chargedNanoUsd } from '../../../billing/price-book.ts';
import type { Reason } from '../../../errors/reason.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { createContentStore } from '../content/content-store.ts';
import { databasePath } from '../database/connection.ts';
import { loadMasterKey } from '../database/master-key.ts';
import { callRecordValues, INSERT_CALL_RECORD, renderAttempts } from '../ledger/call-record-row.ts';
import { openStore } from '../open-store.ts';
import { proveLedger } from '../prove/prove-ledger.ts';
import { ALERTS_FROM_34, ALERTS_OF_34 } from './books-tables.ts';
import { migrate } from './migrate.ts';
import { openEmptyOldDatabase, unpackOldDataFolder } from './testing/old-data-folder.ts';
import { UPGRADES } from './upgrades.ts';

const newFolder = temporaryFolders();

/** What was created, with its SQL in one spelling. */
function schemaOf(database: Database): readonly string[] {
  return database
    .query<{ sql: string }, []>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL')
    .all()
    .map(({ sql }) =>
      sql
        .replaceAll('"', '')
        .replaceAll(/\s+/g, ' ')
        .replaceAll(/\s*([(),])\s*/g, '$1'),
    )
    .sort();
}

test('a real folder of version 20 opens: its ledger verifies, and accounts, keys, people and content are complete', async () => {
  const dataDir = newFolder();
  unpackOldDataFolder(dataDir);
  const { key } = loadMasterKey(dataDir);
  const store = await openStore({ dataDir });
  expect(store.recovered).toEqual({ posted: 0, voided: 1 });
  const calls = await store.calls.readCalls({ limit: 100, sinceMs: null, requestId: null, keyId: null });
  expect(calls.length).toBe(16);
  // Also the one whose draft an older version wrote.
  expect(new Set(calls.map(({ trace_id }) => trace_id))).toEqual(new Set([null]));
  const balances = await store.ledger.readBalances();
  expect(balances.map(({ account, held }) => [account, held])).toEqual([
    ['default', 0n],
    ['solo', 0n],
    ['team', 0n],
  ]);
  // A statement is refused where it is not what the ledger charged.
  for (const { account, charged } of balances) {
    const { charges } = await store.statements.readStatement(account, { fromMs: 0, toMs: Date.now() }, 'UTC');
    expect(charges.reduce((sum, { amount }) => sum + amount, 0n)).toBe(charged);
  }
  expect(balances.some(({ charged }) => charged > 0n)).toBe(true);
  expect((await store.policies.readAccounts()).map(({ id, mode }) => `${id} ${mode}`)).toEqual([
    'default postpaid',
    'team prepaid',
    'solo prepaid',
  ]);
  expect((await store.policies.readKeys()).map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
    'disabled disabled',
    'first active',
    'first key active',
    'research active',
    'revoked revoked',
    'team active',
  ]);
  expect((await store.people.find('person', { where: [] })).map(({ email, account }) => `${email} ${account}`)).toEqual(
    [
      'ada@example.com null',
      'admin@default.example default',
      'viewer@default.example default',
      'owner@team.example team',
    ],
  );
  const audit = { account: 'default', workspaces: null, beforeSeq: null, actor: null, subject: null, limit: 100 };
  const failed = await store.audit.read({ ...audit, act: 'person.sign_in_failed', fromMs: null, toMs: null });
  expect(failed.map(({ by }) => by.actor.kind)).toEqual(['anonymous', 'anonymous']);
  const content = createContentStore(dataDir, key, () => 1e9);
  const stored = await Promise.all(calls.map(({ account, request_id }) => content.read(account, request_id)));
  expect(stored.filter((each) => each !== null).length).toBe(8);
  await content.close();
  await store.close();

  const recompute = (usage: Parameters<typeof chargedNanoUsd>[0], version: string) =>
    chargedNanoUsd(usage, parsePriceVersion(version), parsePriceVersion);
  expect(proveLedger(databasePath(dataDir), recompute)).toMatchObject({ entries: 32, calls: 15, problem: null });
});

test('an upgraded database has the tables, indexes and triggers of a new one', () => {
  const [upgraded, fresh] = [openEmptyOldDatabase(), new Database(':memory:', { strict: true })];
  migrate(upgraded, 1);
  migrate(fresh, 1);
  expect(schemaOf(upgraded)).toEqual(schemaOf(fresh));
});

test('records that were not rolled up yet keep that; the others need no block', () => {
  const database = openEmptyOldDatabase();
  const columns = database
    .query<{ name: string; type: string; notnull: number }, []>(
      'SELECT name, type, "notnull" FROM pragma_table_info(\'call_record\')',
    )
    .all()
    .filter(({ notnull }) => notnull === 1);
  for (const id of ['req_1', 'req_2', 'req_3', 'req_4']) {
    database.run(
      `INSERT INTO call_record (${columns.map(({ name }) => name).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      columns.map(({ name, type }) => (name === 'request_id' ? id : type === 'TEXT' ? 'x' : 1)),
    );
  }
  database.run("INSERT INTO usage_through (one, request_id) VALUES (1, 'req_3')");
  database.run("INSERT INTO usage_late (request_id) VALUES ('req_2')");
  migrate(database, 1);
  expect(database.query('SELECT request_id, block, ended_ms FROM call_record').all()).toEqual([
    { request_id: 'req_1', block: null, ended_ms: null },
    { request_id: 'req_2', block: 0, ended_ms: null },
    { request_id: 'req_3', block: null, ended_ms: null },
    { request_id: 'req_4', block: 0, ended_ms: null },
  ]);
  expect(() => database.run('UPDATE call_record SET block = 1')).toThrow('never changes');
});

test('applied blocks of the journal never change, and their mark never goes back', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  const zeros = (bytes: number) => `zeroblob(${bytes})`;
  database.run(`INSERT INTO stream VALUES (1, ${zeros(16)}, 1, 5, ${zeros(32)})`);
  database.run(`INSERT INTO block VALUES (5, 1, 1, ${zeros(32)}, ${zeros(32)}, ${zeros(9)})`);
  database.run("INSERT INTO movement VALUES ('topup', 'm', 'default', 5, NULL, 1, 5)");
  for (const table of ['block', 'movement']) {
    expect(() => database.run(`UPDATE ${table} SET ${table === 'block' ? 'frames' : 'amount'} = 1`)).toThrow(
      'never changes',
    );
    expect(() => database.run(`DELETE FROM ${table}`)).toThrow('never deleted');
  }
  expect(() => database.run('UPDATE stream SET seq = 4')).toThrow('never goes back');
  expect(() => database.run('DELETE FROM stream')).toThrow('never deleted');
  database.run('UPDATE stream SET seq = 6, epoch = 2');
});

/** A database of version 20 with three more accounts. */
function openBefore(): Database {
  const database = openEmptyOldDatabase();
  for (const id of ['a', 'b', 'c']) {
    database.run(
      "INSERT INTO account (id, created_at_ms, mode, name) SELECT ?, 1, mode, ? FROM account WHERE id = 'default'",
      [id, id],
    );
  }
  return database;
}

function person(database: Database, id: string, atMs: number, accounts: readonly string[], provider = 'credential') {
  database.run(
    'INSERT INTO person (id, name, email, email_verified, created_at_ms, updated_at_ms) VALUES (?, ?, ?, 0, ?, ?)',
    [id, id, `${id}@example.com`, atMs, atMs],
  );
  database.run(
    'INSERT INTO sign_in_method (id, person, provider, subject, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, 1, 1)',
    [`method_${id}`, id, provider, id],
  );
  for (const [nth, account] of accounts.entries()) {
    database.run("INSERT INTO membership (person, account, role, joined_at_ms) VALUES (?, ?, 'admin', ?)", [
      id,
      account,
      atMs + nth,
    ]);
  }
}

test('the first owner and users of a service are verified; all others belong to the account that they joined first', () => {
  const database = openBefore();
  person(database, 'owner', 10, ['default', 'a', 'b']);
  person(database, 'service', 20, ['a', 'b'], 'lab');
  person(database, 'plain', 30, ['b']);
  person(database, 'two', 40, ['b', 'a']);
  person(database, 'left', 50, []);
  person(database, 'stray', 60, []);
  database.run(
    `INSERT INTO invitation (id, account, email, role, token_hash, invited_by, created_at_ms, expires_at_ms, accepted_at_ms)
      VALUES ('i', 'c', 'left@example.com', 'viewer', 'h', 'owner', 1, 9, 5)`,
  );
  migrate(database, 1_000);
  const users = database
    .query('SELECT id, email, unique_email, email_verified, account FROM person ORDER BY rowid')
    .all();
  expect(users).toEqual(
    [
      ['owner', 'owner@example.com', 1, null],
      ['service', 'service@example.com', 1, null],
      ['plain', 'plain@example.com b', 0, 'b'],
      ['two', 'two@example.com b', 0, 'b'],
      ['left', 'left@example.com c', 0, 'c'],
      ['stray', 'stray@example.com stray', 0, null],
    ].map(([id, unique_email, email_verified, account]) => ({
      id,
      email: `${id}@example.com`,
      unique_email,
      email_verified,
      account,
    })),
  );
  const memberships = database.query<{ person: string; account: string }, []>(
    'SELECT person, account FROM membership ORDER BY person, account',
  );
  expect(memberships.all().map((row) => `${row.person} ${row.account}`)).toEqual([
    'owner a',
    'owner b',
    'owner default',
    'plain b',
    'service a',
    'service b',
    'two b',
  ]);
  expect(database.query('SELECT * FROM suspended_membership').all()).toEqual([
    { person: 'two', account: 'a', role: 'admin', workspaces: null, joined_at_ms: 41 },
  ]);
  const audit = database.query('SELECT account, act, subject_id, at_ms, before FROM audit_entry').all();
  expect(audit).toEqual([
    { account: 'a', act: 'member.suspend', subject_id: 'two', at_ms: 1_000, before: '{"role":"admin"}' },
  ]);
});

test('an address has one verified user, one unverified user in each account, and a consistent unique form', () => {
  const database = openBefore();
  migrate(database, 1_000);
  const add = (id: string, unique: string, verified: number, account: string | null) =>
    database.run(
      `INSERT INTO person (id, name, email, unique_email, email_verified, account, created_at_ms, updated_at_ms)
        VALUES (?, 'N', 'x@example.com', ?, ?, ?, 1, 1)`,
      [id, unique, verified, account],
    );
  add('p1', 'x@example.com', 1, null);
  add('p2', 'x@example.com a', 0, 'a');
  add('p3', 'x@example.com b', 0, 'b');
  expect(() => add('p4', 'x@example.com', 1, null)).toThrow('UNIQUE');
  expect(() => add('p5', 'x@example.com a', 0, 'a')).toThrow('UNIQUE');
  expect(() => add('p6', 'x@example.com', 0, 'c')).toThrow('CHECK');
  expect(() => add('p7', 'y@example.com c', 0, 'c')).toThrow('CHECK');
  const join = (id: string, account: string) =>
    database.run("INSERT INTO membership (person, account, role, joined_at_ms) VALUES (?, ?, 'viewer', 1)", [
      id,
      account,
    ]);
  join('p2', 'a');
  expect(() => join('p2', 'b')).toThrow('joins no second account');
  for (const account of ['a', 'b']) join('p1', account);
});

const rules = (database: Database) =>
  database
    .query<{ rule: string }, []>("SELECT kind || ' ' || id || ' ' || layer AS rule FROM limit_rule")
    .all()
    .map(({ rule }) => rule);

test('rules set by the members of an account alone are its own, all others the operator’s', () => {
  const database = openEmptyOldDatabase();
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

test('a provider’s credential becomes its first one, and goes with it; a provider without one has none', () => {
  const database = openEmptyOldDatabase();
  const add = (name: string, sealed: string | null) =>
    database.run(
      `INSERT INTO provider_entry (name, kind, base_url, models, sealed, last4, created_at_ms, updated_at_ms)
        VALUES (?, 'openai-compatible', 'https://api.example.com/v1', '[]', ?, ?, 3, 4)`,
      [name, sealed, sealed === null ? null : 'wxyz'],
    );
  add('lab', 'AAAA');
  add('open', null);
  migrate(database, 5);
  const credential = { provider: 'lab', name: 'default', sealed: 'AAAA', last4: 'wxyz', weight: 1 };
  const rest = { organisation: null, models: null, created_at_ms: 3, updated_at_ms: 4 };
  expect(database.query('SELECT * FROM provider_credential').all()).toEqual([{ ...credential, ...rest }]);
  expect(database.query('SELECT name, settings FROM provider_entry ORDER BY name').all()).toEqual([
    { name: 'lab', settings: '{}' },
    { name: 'open', settings: '{}' },
  ]);
  database.run("DELETE FROM provider_entry WHERE name = 'lab'");
  expect(database.query('SELECT * FROM provider_credential').all()).toEqual([]);
  database.close();
});

test('an older database keeps what is imported', () => {
  const database = openEmptyOldDatabase();
  migrate(database, 5);
  database.run("INSERT INTO imported_object VALUES ('litellm', 'key', 'f', 'key', 'key_1', 'd', 5, 6, 7)");
  expect(database.query('SELECT spent FROM imported_object').all()).toEqual([{ spent: 5 }]);
  database.close();
});

test('records from before reasons were columns are found by their reason', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  database.run('DROP INDEX call_record_reason');
  for (const column of ['reason_kind', 'reason_group']) database.run(`ALTER TABLE call_record DROP COLUMN ${column}`);
  const reason: Reason = {
    kind: 'rate_limited',
    subject: { type: 'key', id: 'key_1', name: 'prod' },
    at_step: 'limits',
  };
  for (const record of [
    sampleRecord('req_1', { error: 'rate_limited', reason }),
    sampleRecord('req_2', { error: 'gateway_fault' }),
  ]) {
    database.run(INSERT_CALL_RECORD, [
      ...callRecordValues(record),
      renderAttempts(record),
      ...Array.from({ length: 8 }, () => null),
    ]);
  }
  for (const statement of UPGRADES.find(({ version }) => version === 34)?.statements ?? []) {
    if (/reason_(?:kind|group)/.test(statement)) database.run(statement);
  }
  expect(
    database.query('SELECT request_id, reason_kind, reason_group FROM call_record ORDER BY request_id').all(),
  ).toEqual([
    {
      request_id: 'req_1',
      reason_kind: 'rate_limited',
      reason_group: '["rate_limited","rate_limited","key","key_1",null,null,null]',
    },
    { request_id: 'req_2', reason_kind: null, reason_group: null },
  ]);
});

test('records from before the journal wait for chunks; later ones follow by their blocks', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  const tables = ['record_chunk', 'record_column', 'record_waiting', 'chunked_through'];
  for (const table of tables) database.run(`DROP TABLE ${table}`);
  database.run('DROP TRIGGER call_record_keeps');
  for (const [id, block] of [
    ['req_1', null],
    ['req_2', 0],
    ['req_3', 7],
  ] as const) {
    const values = [...callRecordValues(sampleRecord(id)), renderAttempts(sampleRecord(id))];
    const rest = INSERT_CALL_RECORD.split('?').length - 1 - values.length;
    database.run(INSERT_CALL_RECORD, [...values, ...Array.from({ length: rest }, () => null)]);
    database.run('UPDATE call_record SET block = ? WHERE request_id = ?', [block, id]);
  }
  for (const statement of UPGRADES.find(({ version }) => version === 35)?.statements ?? []) {
    if (/record_chunk|record_column|record_waiting|chunked_through/.test(statement)) database.run(statement);
  }
  expect(database.query('SELECT account, request_id FROM record_waiting').all()).toEqual([
    { account: 'default', request_id: 'req_1' },
  ]);
  expect(
    database
      .query('SELECT request_id FROM call_record WHERE block > (SELECT block FROM chunked_through) ORDER BY 1')
      .values(),
  ).toEqual([['req_2'], ['req_3']]);
});

test('alerts keep their rules and deliveries', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  for (const table of ['alert_seen', 'alert_delivery', 'alert_rule']) database.run(`DROP TABLE ${table}`);
  for (const statement of ALERTS_OF_34) database.run(statement);
  database.run("INSERT INTO account (id, created_at_ms) VALUES ('acme', 1)");
  database.run("INSERT INTO alert_rule VALUES ('r', 'acme', 'half', 'budget', 50, 'slack', 'https://s', 'x', 7)");
  database.run("INSERT INTO alert_delivery VALUES ('d', 'r', 'Half is spent.', 8, 'pending', 2, 9, 'refused')");
  for (const statement of ALERTS_FROM_34) database.run(statement);
  expect(database.query('SELECT * FROM alert_rule').all()).toEqual([
    {
      ...{ id: 'r', account: 'acme', name: 'half', event: 'budget', threshold: 50, channel: 'slack' },
      ...{ receiver: 'https://s', sealed: 'x', renotify_ms: null, quiet_from: null, quiet_to: null },
      ...{ muted_until_ms: null, created_at_ms: 7, evaluated_at_ms: 7 },
    },
  ]);
  expect(database.query('SELECT * FROM alert_delivery').all()).toEqual([
    {
      ...{ id: 'd', rule: 'r', account: 'acme', event: 'd', text: 'Half is spent.', remedy: null, created_at_ms: 8 },
      ...{ status: 'pending', attempts: 2, next_at_ms: 9, error: 'refused' },
    },
  ]);
});
