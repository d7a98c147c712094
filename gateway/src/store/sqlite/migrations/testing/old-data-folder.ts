/**
 * Provides data folders of earlier versions, each written by a server that was killed while a stream was running: of
 * schema version 20, the oldest that can be upgraded (commit e0cc367), and of version 34, the one before the present
 * (commit a2b0742e).
 */
import { Database } from 'bun:sqlite';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unpackFiles } from '../../../../lib/package/packed-files.ts';

const SOURCE = join(import.meta.dir, 'data-folder-20');

/** Copies the files into an existing folder. */
export function unpackOldDataFolder(folder: string): void {
  for (const name of ['tollgate.db', 'content.db']) writeFileSync(join(folder, name), unpack(name));
  copyFileSync(join(SOURCE, 'master.key'), join(folder, 'master.key'));
}

/**
 * Copies the files of version 34 into an existing folder: a database with its write-ahead log, a journal, stored
 * content, and a rule for alerts.
 */
export function unpackPreviousDataFolder(folder: string): void {
  for (const [path, content] of unpackFiles(readFileSync(join(import.meta.dir, 'data-folder-34.packed')))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, path), content, { mode: 0o600 });
  }
}

/** A database in memory with the tables of version 20 and a new folder's rows: the default account and workspace. */
export function openEmptyOldDatabase(): Database {
  const file = unpack('tollgate.db');
  // A database in memory has no write-ahead log: https://sqlite.org/fileformat2.html#file_format_version_numbers (read
  // 2026-11-22).
  file.fill(1, 18, 20);
  const source = Database.deserialize(file);
  const database = new Database(':memory:', { strict: true });
  const made = source.query<{ sql: string }, []>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid');
  for (const { sql } of made.all()) database.run(sql);
  for (const name of ['application_id', 'user_version']) {
    database.run(`PRAGMA ${name} = ${Object.values(source.query(`PRAGMA ${name}`).get() ?? {})[0]}`);
  }
  source.close();
  database.run("INSERT INTO account (id, created_at_ms, name) VALUES ('default', 1, 'default')");
  database.run("INSERT INTO workspace (id, account_id, created_at_ms) VALUES ('default', 'default', 1)");
  database.run('PRAGMA foreign_keys = ON');
  return database;
}

function unpack(name: string): Uint8Array {
  return Bun.gunzipSync(readFileSync(join(SOURCE, `${name}.gz`)));
}
