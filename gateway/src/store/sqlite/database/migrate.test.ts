/** Tests the migration of any database to the current tables, and which databases are refused. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import type { CallRecord } from '../../ports/records.ts';
import { callRecordOfRow, callRecordValues, INSERT_CALL_RECORD, renderAttempts } from '../ledger/call-record-row.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { openReading } from '../open-reading.ts';
import { openStore } from '../open-store.ts';
import { keyOfRow } from '../policy/policy-store.ts';
import { StoreFailure } from '../store-failure.ts';
import type { ApiKeyRow, CallRecordRow } from '../tables.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { migrate, requireCurrentSchema } from './migrate.ts';

const newFolder = temporaryFolders();
const NEXT_VERSION = (MIGRATIONS.at(-1)?.version ?? 0) + 1;

async function failureOf(work: () => unknown): Promise<StoreFailure> {
  try {
    await work();
  } catch (fault) {
    if (fault instanceof StoreFailure) return fault;
    throw fault;
  }
  throw new Error('nothing was refused');
}

function countOf(database: Database, table: string): number {
  return database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;
}

/** Inserts the members of a record for which the table of that version has columns. */
function insertAsThen(database: Database, record: CallRecord): void {
  const then = database.query<{ name: string }, []>("SELECT name FROM pragma_table_info('call_record')").all();
  const [, columns = ''] = /\((.+?)\)/.exec(INSERT_CALL_RECORD) ?? [];
  const values = [...callRecordValues(record), renderAttempts(record)];
  const kept = columns.split(', ').flatMap((name, index) => {
    return then.some((column) => column.name === name) ? [{ name, value: values[index] ?? null }] : [];
  });
  const names = kept.map(({ name }) => name).join(', ');
  const marks = kept.map(() => '?').join(', ');
  database.run(
    `INSERT INTO call_record (${names}) VALUES (${marks})`,
    kept.map(({ value }) => value),
  );
}

describe('migrate', () => {
  test('numbers its steps from 1 without a gap', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  test('makes a new database with the default account and workspace, and a second run changes nothing', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 77);
    migrate(database, 78);
    expect(database.query('SELECT id, created_at_ms FROM account').all()).toEqual([
      { id: 'default', created_at_ms: 77 },
    ]);
    expect(database.query('SELECT id, account_id, models FROM workspace').all()).toEqual([
      { id: 'default', account_id: 'default', models: null },
    ]);
    expect(() => requireCurrentSchema(database)).not.toThrow();
  });

  test('who disabled a key is known from the audit trail, where it tells', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, MIGRATIONS.slice(0, 19));
    for (const [id, status] of [
      ['told', 'disabled'],
      ['untold', 'disabled'],
      ['woken', 'active'],
    ] as const) {
      database.run(
        `INSERT INTO api_key (id, name, account_id, workspace_id, hash, last4, scopes, status, created_at_ms)
          VALUES (?, 'n', 'default', 'default', ?, 'abcd', '[]', ?, 1)`,
        [id, id, status],
      );
    }
    for (const [actor, act, key] of [
      ['first', 'keys.disable', 'told'],
      ['first', 'keys.enable', 'told'],
      ['last', 'keys.disable', 'told'],
      ['other', 'keys.set', 'told'],
      ['first', 'keys.disable', 'woken'],
    ] as const) {
      database.run(
        `INSERT INTO audit_entry (at_ms, account, actor_kind, actor_id, actor_name, act, subject_kind, subject_id)
          VALUES (1, 'default', 'person', ?, 'n', ?, 'key', ?)`,
        [actor, act, key],
      );
    }
    migrate(database, 1);
    expect(database.query('SELECT id, disabled_by FROM api_key ORDER BY id').values()).toEqual([
      ['told', 'last'],
      ['untold', null],
      ['woken', null],
    ]);
  });

  test('a key of the first version goes on working, is not strict, and holds as its account', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, MIGRATIONS.slice(0, 1));
    database.run(
      `INSERT INTO api_key (id, name, account_id, workspace_id, hash, last4, scopes, status, created_at_ms)
        VALUES ('key_1', 'old', 'default', 'default', 'aa', 'wxyz', '["inference"]', 'active', 3)`,
    );
    migrate(database, 2);
    const row = database.query<ApiKeyRow, []>('SELECT * FROM api_key').get();
    expect(row === null ? null : keyOfRow(row)).toEqual({
      id: 'key_1',
      name: 'old',
      accountId: 'default',
      workspaceId: 'default',
      hash: 'aa',
      last4: 'wxyz',
      previousHash: null,
      previousExpiresAtMs: null,
      previousLast4: null,
      models: null,
      ips: null,
      scopes: ['inference'],
      strict: false,
      holds: null,
      status: 'active',
      createdAtMs: 3,
      expiresAtMs: null,
      createdBy: null,
      disabledBy: null,
    });
    expect(() => database.run('UPDATE api_key SET strict = 2')).toThrow('CHECK constraint failed');
    expect(() => database.run("UPDATE api_key SET holds = 'loose'")).toThrow('CHECK constraint failed');
    expect(() => database.run("UPDATE account SET holds = 'loose'")).toThrow('CHECK constraint failed');
  });

  test('an account from before the ledger is postpaid and has no balance, and old records are marked as older', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, MIGRATIONS.slice(0, 2));
    insertAsThen(database, sampleRecord('req_old'));
    migrate(database, 2);
    expect(database.query('SELECT mode, mark_up_ppm, time_zone FROM account').all()).toEqual([
      { mode: 'postpaid', mark_up_ppm: 0, time_zone: 'UTC' },
    ]);
    expect(countOf(database, 'account_balance')).toBe(0);
    expect(
      database.query("SELECT cast(value AS TEXT) AS id FROM meta WHERE name = 'records_before_ledger'").get(),
    ).toEqual({ id: 'req_old' });
    expect(() => database.run("UPDATE account SET mode = 'free'")).toThrow('CHECK constraint failed');
  });

  test('a record from before sound, images and tools were counted reads as it did', async () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, MIGRATIONS.slice(0, 5));
    const record = sampleRecord('req_old');
    insertAsThen(database, record);
    migrate(database, 2);
    const row = database.query<CallRecordRow, []>('SELECT * FROM call_record').get();
    expect(row?.usage_apart).toBeNull();
    const cost_nano_usd = row === null ? null : String(row.cost_nano_usd);
    expect(row === null ? null : callRecordOfRow({ ...row, cost_nano_usd })).toEqual(record);
  });

  test('a step that fails leaves no trace, and is run whole the next time', () => {
    const steps = [
      { version: 1, statements: ['CREATE TABLE one (id INTEGER)'] },
      { version: 2, statements: ['CREATE TABLE two (id INTEGER)', 'INSERT INTO nowhere VALUES (1)'] },
    ];
    const database = new Database(':memory:', { strict: true });
    expect(() => migrate(database, 1, steps)).toThrow('nowhere');
    expect(countOf(database, 'one')).toBe(0);
    expect(() => countOf(database, 'two')).toThrow('no such table');
    const mended = [...steps.slice(0, 1), { version: 2, statements: ['CREATE TABLE two (id INTEGER)'] }];
    migrate(database, 1, mended);
    expect(countOf(database, 'two')).toBe(0);
  });

  test('refuses a newer database, and changes nothing in it', async () => {
    const folder = newFolder();
    await (await openStore({ dataDir: folder })).close();
    const database = new Database(`${folder}/tollgate.db`);
    database.run(`PRAGMA user_version = ${NEXT_VERSION}`);
    database.close();
    for (const open of [() => openStore({ dataDir: folder }), () => openReading(folder)]) {
      const failure = await failureOf(open);
      expect(failure.kind).toBe('schema');
      expect(failure.message).toContain(`schema version ${NEXT_VERSION}, newer than this program knows`);
    }
  });

  test('a reader refuses an older database, and says what brings it up to date', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1);
    const later = [...MIGRATIONS, { version: NEXT_VERSION, statements: [] }];
    expect(() => requireCurrentSchema(database, later)).toThrow('Start the server once');
  });

  test("refuses another program's database, and a file that is none", async () => {
    const [foreign, garbage, nothing] = [newFolder(), newFolder(), newFolder()];
    const database = new Database(`${foreign}/tollgate.db`);
    database.run('CREATE TABLE theirs (id INTEGER)');
    database.close();
    writeFileSync(`${garbage}/tollgate.db`, 'x'.repeat(8_192));
    for (const folder of [foreign, garbage]) {
      expect((await failureOf(() => openStore({ dataDir: folder }))).kind).toBe('foreign');
      expect((await failureOf(() => openReading(folder))).kind).toBe('foreign');
    }
    expect((await failureOf(() => openReading(nothing))).message).toContain('There is no database in');
    expect(() => statSync(`${nothing}/tollgate.db`)).toThrow('ENOENT');
  });
});
