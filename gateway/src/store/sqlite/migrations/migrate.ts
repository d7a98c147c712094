/** Brings a database to the current schema; refuses one that is not ours, too old for that, or newer than this program. */
import type { Database } from 'bun:sqlite';
import { Unavailable } from '../../ports/store-errors.ts';
import { BASELINE, type Migration } from './baseline.ts';
import { LAST_COMMIT_FOR_OLDER, UPGRADES } from './upgrades.ts';

/** The schema of one kind of database file. */
export interface Schema {
  /** Creates the current schema in an empty database. */
  readonly baseline: Migration;
  /** The steps from older versions to the baseline's, ascending, without a gap. */
  readonly upgrades: readonly Migration[];
}

const MAIN_SCHEMA: Schema = { baseline: BASELINE, upgrades: UPGRADES };

/**
 * Marks a SQLite file as ours: `toll` in ASCII. https://sqlite.org/pragma.html#pragma_application_id (read 2026-11-20).
 */
const APPLICATION_ID = 0x746f6c6c;

/**
 * Runs the missing migrations, each in one transaction: killed at any moment, the next start continues from there.
 *
 * @throws Unavailable as `requireKnownSchema`; then nothing was changed.
 */
export function migrate(database: Database, nowMs: number, schema: Schema = MAIN_SCHEMA): void {
  const found = requireKnownSchema(database, schema);
  const missing = found === 0 ? [schema.baseline] : schema.upgrades.filter(({ version }) => version > found);
  for (const migration of missing) {
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
 * Refuses a database that a reader cannot understand.
 *
 * @throws Unavailable as `requireKnownSchema`, and for a database that is not migrated yet.
 */
export function requireCurrentSchema(database: Database, schema: Schema = MAIN_SCHEMA): void {
  const found = requireKnownSchema(database, schema);
  if (found < schema.baseline.version) {
    throw new Unavailable(
      'incompatible',
      `The database has schema version ${found}, this program reads version ${schema.baseline.version}. Start the server once: it brings the database up to date.`,
    );
  }
}

/**
 * Returns the version of the database's schema; 0 for an empty database. Changes nothing.
 *
 * @throws Unavailable `incompatible` for a database that is not ours, is newer than this program, or too old to be
 * upgraded by it.
 */
export function requireKnownSchema(database: Database, { baseline, upgrades }: Schema = MAIN_SCHEMA): number {
  const applicationId = readPragma(database, 'application_id');
  const found = readPragma(database, 'user_version');
  const tables = database.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get()?.count ?? 0;
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || found !== 0 || tables !== 0)) {
    throw new Unavailable(
      'incompatible',
      'The file tollgate.db is a database of another program. Choose another data folder (TOLLGATE_DATA_DIR).',
    );
  }
  if (found > baseline.version) {
    throw new Unavailable(
      'incompatible',
      `The database has schema version ${found}, newer than this program knows (${baseline.version}). Use the newer program, or restore a backup from before it.`,
    );
  }
  const oldest = (upgrades[0]?.version ?? baseline.version + 1) - 1;
  if (found !== 0 && found < oldest) {
    throw new Unavailable(
      'incompatible',
      `The database has schema version ${found}, older than this version of Tollgate can upgrade (${oldest}). Nothing was changed. Check out commit ${LAST_COMMIT_FOR_OLDER} of Tollgate, run "npm ci" and start it once; then start this version.`,
    );
  }
  return found;
}

function readPragma(database: Database, name: 'application_id' | 'user_version'): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
