/**
 * Tests who is verified after the migration to version 21, and what happens to memberships that depend on an unverified
 * address.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { migrate } from '../database/migrate.ts';
import { MIGRATIONS } from './migrations.ts';

/** A database of version 20. */
function openBefore(): Database {
  const database = new Database(':memory:', { strict: true });
  database.run('PRAGMA foreign_keys = ON');
  migrate(
    database,
    1,
    MIGRATIONS.filter(({ version }) => version <= 20),
  );
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

test('the first owner and users of a service are verified; all others are of the account that they joined first', () => {
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

test('an address has one verified user, and one unverified one in each account, and says the truth of itself', () => {
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
