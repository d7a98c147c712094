/** Tests what the tables refuse by themselves, whatever writes to the database. */
import type { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { BY_COMMAND_LINE } from '../ports/audit.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath, openWriteConnection } from './database/connection.ts';
import { openStore } from './open-store.ts';

const newFolder = temporaryFolders();
let database: Database;

beforeEach(async () => {
  const dataDir = newFolder();
  const { recorder, audit, providers, close } = await openStore({ dataDir });
  await recorder.append(sampleRecord('a'));
  const subject = { kind: 'workspace', id: 'default' };
  const members = { before: null, after: null };
  await audit.append([
    { atMs: 1, account: 'default', workspace: null, by: BY_COMMAND_LINE, act: 'a', subject, ...members },
  ]);
  const price = { model: 'a', fromMs: 9, rates: null, createdBy: 'person:1', createdAtMs: 8 };
  await providers.save([{ of: 'price', price }]);
  await close();
  database = openWriteConnection(databasePath(dataDir));
});
afterEach(() => database.close());

test('a limit rule has at least one cap, each in its range', () => {
  const insert = (values: string) => () => database.run(`INSERT INTO limit_rule VALUES (${values})`);
  expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, NULL, NULL")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 5, NULL")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 5, 'year'")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, -5, 'day'")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', 0, NULL, NULL, NULL, NULL")).toThrow('CHECK');
  expect(insert("'tenant', 'k', 'operator', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', 1.5, NULL, NULL, NULL, NULL")).toThrow('cannot store REAL');
  expect(insert("'key', 'k', 'house', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
  expect(insert("'model', 'm', 'account', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
  expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 0, 'day'")).not.toThrow();
  expect(insert("'key', 'k', 'account', NULL, NULL, NULL, 0, 'day'")).not.toThrow();
});

test.each([
  ['call_record', 'never changes', 'never deleted'],
  ['audit_entry', 'never changes', 'ever deleted'],
  ['model_price', 'never changes', 'never deleted'],
])('rows of %s neither change nor go', (table, unchanged, undeleted) => {
  const column = table === 'call_record' ? 'status' : table === 'audit_entry' ? 'act' : 'model';
  expect(() => database.run(`UPDATE ${table} SET ${column} = ${column}`)).toThrow(unchanged);
  expect(() => database.run(`DELETE FROM ${table}`)).toThrow(undeleted);
  // Computed columns are not listed, and take no values.
  const columns = database.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all();
  const list = columns.map(({ name }) => name).join(', ');
  expect(() => database.run(`INSERT OR REPLACE INTO ${table} (${list}) SELECT ${list} FROM ${table}`)).toThrow(
    undeleted,
  );
});
