/** Checks the way from any database to today's tables, and what is refused. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { migrate, requireCurrentSchema } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { openReading } from './open-reading.ts';
import { openStore } from './open-store.ts';
import { keyOfRow } from './policy-rows.ts';
import { StoreFailure } from './store-failure.ts';
import type { ApiKeyRow } from './tables.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

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

describe('migrate', () => {
  test('numbers its steps upwards from 1, each once', () => {
    const versions = MIGRATIONS.map(({ version }) => version);
    expect(versions[0]).toBe(1);
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other));
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
      models: null,
      ips: null,
      scopes: ['inference'],
      strict: false,
      holds: null,
      status: 'active',
      createdAtMs: 3,
      expiresAtMs: null,
    });
    expect(() => database.run('UPDATE api_key SET strict = 2')).toThrow('CHECK constraint failed');
    expect(() => database.run("UPDATE api_key SET holds = 'loose'")).toThrow('CHECK constraint failed');
    expect(() => database.run("UPDATE account SET holds = 'loose'")).toThrow('CHECK constraint failed');
  });

  test('an account from before the ledger is postpaid and has no balance, and old records are marked as older', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, MIGRATIONS.slice(0, 2));
    database.run(
      `INSERT INTO call_record (request_id, at_ms, account, workspace, key_id, key_name, protocol, stream, status,
          input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, usage_source, duration_ms, attempts)
        VALUES ('req_old', 1, 'default', 'default', 'key_1', 'old', 'chat', 0, 200, 1, 0, 0, 0, 1, 0, 'upstream', 5, '[]')`,
    );
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
