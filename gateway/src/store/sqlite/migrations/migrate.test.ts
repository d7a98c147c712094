/** Tests the migration of any database to the current tables, and which databases are refused. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../ports/store-errors.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { backupDatabase } from '../database/backup-database.ts';
import { loadMasterKey, replaceMasterKey } from '../database/master-key.ts';
import { openReading, openStore } from '../open-store.ts';
import { proveLedger } from '../prove/prove-ledger.ts';
import { BASELINE } from './baseline.ts';
import { migrate, requireCurrentSchema } from './migrate.ts';
import { unpackOldDataFolder } from './testing/old-data-folder.ts';
import { UPGRADES } from './upgrades.ts';

const newFolder = temporaryFolders();
const NEXT_VERSION = BASELINE.version + 1;

async function failureOf(work: () => unknown): Promise<StoreError> {
  try {
    await work();
  } catch (fault) {
    if (fault instanceof StoreError) return fault;
    throw fault;
  }
  throw new Error('nothing was refused');
}

function countOf(database: Database, table: string): number {
  return database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? -1;
}

describe('migrate', () => {
  test('upgrades lead to the baseline without a gap', () => {
    const versions = UPGRADES.map(({ version }) => version);
    expect(versions).toEqual(versions.map((_, index) => (versions[0] ?? 0) + index));
    expect(versions.at(-1)).toBe(BASELINE.version);
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

  test('finds entries of a kind that is looked up by its call or movement in the index', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1);
    const planOf = (kind: string) =>
      database
        .query<{ detail: string }, []>(
          `EXPLAIN QUERY PLAN SELECT amount FROM ledger_entry WHERE ref = 'a' AND kind = '${kind}' AND nth = 0`,
        )
        .get()?.detail;
    for (const kind of ['topup', 'correct', 'absorb']) expect(planOf(kind)).toContain('USING INDEX ledger_entry_once');
    expect(planOf('hold')).toBe('SCAN ledger_entry');
  });

  test('a migration that fails leaves no trace, and runs completely the next time', () => {
    const baseline = { version: 1, statements: ['CREATE TABLE one (id INTEGER)'] };
    const failing = { version: 2, statements: ['CREATE TABLE two (id INTEGER)', 'INSERT INTO nowhere VALUES (1)'] };
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1, { baseline, upgrades: [] });
    const next = { baseline: { version: 2, statements: [] }, upgrades: [failing] };
    expect(() => migrate(database, 1, next)).toThrow('nowhere');
    expect(countOf(database, 'one')).toBe(0);
    expect(() => countOf(database, 'two')).toThrow('no such table');
    migrate(database, 1, { ...next, upgrades: [{ version: 2, statements: ['CREATE TABLE two (id INTEGER)'] }] });
    expect(countOf(database, 'two')).toBe(0);
  });

  test('refuses a database too old to upgrade, names the version to start first, and changes nothing', async () => {
    const folder = newFolder();
    unpackOldDataFolder(folder);
    const path = join(folder, 'tollgate.db');
    const database = new Database(path);
    database.run('PRAGMA user_version = 19');
    database.run('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const before = readFileSync(path);
    const commands = [
      () => loadMasterKey(folder),
      () => replaceMasterKey(folder, 1),
      () => openStore({ dataDir: folder }),
      () => openReading(folder),
      () => proveLedger(path, () => 0n),
      () => backupDatabase(path, join(folder, 'copy.db'), () => undefined),
    ];
    for (const open of commands) {
      const failure = await failureOf(open);
      expect(failure.kind).toBe('incompatible');
      expect(failure.message).toMatch(
        /version 19, older than this version of Tollgate can upgrade \(20\)\. Nothing was changed\. Check out commit [0-9a-f]{7} /,
      );
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('refuses a newer database, and changes nothing in it', async () => {
    const folder = newFolder();
    await (await openStore({ dataDir: folder })).close();
    const database = new Database(`${folder}/tollgate.db`);
    database.run(`PRAGMA user_version = ${NEXT_VERSION}`);
    database.close();
    for (const open of [() => openStore({ dataDir: folder }), () => openReading(folder)]) {
      const failure = await failureOf(open);
      expect(failure.kind).toBe('incompatible');
      expect(failure.message).toContain(`schema version ${NEXT_VERSION}, newer than this program knows`);
    }
  });

  test('a reader refuses an older database, with a remedy', () => {
    const database = new Database(':memory:', { strict: true });
    migrate(database, 1);
    const next = { version: NEXT_VERSION, statements: [] };
    const later = { baseline: next, upgrades: [next] };
    expect(() => requireCurrentSchema(database, later)).toThrow('Start the server once');
  });

  test("refuses another program's database, and a file that is not a database", async () => {
    const [foreign, garbage, nothing] = [newFolder(), newFolder(), newFolder()];
    const database = new Database(`${foreign}/tollgate.db`);
    database.run('CREATE TABLE theirs (id INTEGER)');
    database.close();
    writeFileSync(`${garbage}/tollgate.db`, 'x'.repeat(8_192));
    for (const folder of [foreign, garbage]) {
      expect((await failureOf(() => openStore({ dataDir: folder }))).kind).toBe('incompatible');
      expect((await failureOf(() => openReading(folder))).kind).toBe('incompatible');
    }
    expect((await failureOf(() => openReading(nothing))).message).toContain('There is no database in');
    expect(() => statSync(`${nothing}/tollgate.db`)).toThrow('ENOENT');
  });
});
