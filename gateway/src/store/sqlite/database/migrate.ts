/** Migrates a database to the current schema, and refuses one that is not ours or is newer than this program. */
import type { Database } from 'bun:sqlite';
import type { Migration } from '../migrations/migration.ts';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { StoreFailure } from '../store-failure.ts';

/**
 * Marks a SQLite file as ours: `toll` in ASCII. https://sqlite.org/pragma.html#pragma_application_id (read 2026-11-20).
 */
const APPLICATION_ID = 0x746f6c6c;

/**
 * Runs the missing migrations, each in one transaction: killed at any moment, the next start continues from there.
 *
 * @throws StoreFailure `foreign` for a database that is not ours, `schema` for one newer than the known migrations.
 */
export function migrate(database: Database, nowMs: number, migrations: readonly Migration[] = MIGRATIONS): void {
  const found = readSchemaVersion(database, migrations);
  for (const migration of migrations.filter(({ version }) => version > found)) {
    database
      .transaction(() => {
        for (const statement of migration.statements) {
          const prepared = database.prepare(statement);
          if (prepared.paramsCount === 0) prepared.run();
          else prepared.run({ now: nowMs });
          prepared.finalize();
        }
        database.run(`PRAGMA application_id = ${APPLICATION_ID}`);
        database.run(`PRAGMA user_version = ${migration.version}`);
      })
      .immediate();
  }
}

/**
 * Refuses a database that a reader cannot understand: not ours, newer, or not migrated to the current schema yet.
 *
 * @throws StoreFailure `foreign` or `schema`.
 */
export function requireCurrentSchema(database: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  const found = readSchemaVersion(database, migrations);
  const known = migrations.at(-1)?.version ?? 0;
  if (found < known) {
    throw new StoreFailure(
      'schema',
      `The database has schema version ${found}, this program reads version ${known}. Start the server once: it brings the database up to date.`,
    );
  }
}

/** 0 for an empty database. */
function readSchemaVersion(database: Database, migrations: readonly Migration[]): number {
  const applicationId = readPragma(database, 'application_id');
  const found = readPragma(database, 'user_version');
  const tables = database.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get()?.count ?? 0;
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || found !== 0 || tables !== 0)) {
    throw new StoreFailure(
      'foreign',
      'The file tollgate.db is a database of another program. Choose another data folder (TOLLGATE_DATA_DIR).',
    );
  }
  const known = migrations.at(-1)?.version ?? 0;
  if (found > known) {
    throw new StoreFailure(
      'schema',
      `The database has schema version ${found}, newer than this program knows (${known}). Use the newer program, or restore a backup from before it.`,
    );
  }
  return found;
}

function readPragma(database: Database, name: 'application_id' | 'user_version'): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
