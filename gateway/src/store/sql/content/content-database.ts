/** Owns the database of content and its one connection. Runs on a thread of its own, so that large bodies hold up nobody. */
import type { Database } from 'bun:sqlite';
import type { CallContent, ContentCutoff } from '../../content-port.ts';
import { openWriteConnection } from '../connection.ts';
import { inTransaction } from '../in-transaction.ts';
import { migrate } from '../migrate.ts';
import type { Migration } from '../migration.ts';
import { openContent, sealContent } from './content-seal.ts';

/** Steps of this file, counted apart from those of the ledger's. A step that has shipped never changes. */
export const CONTENT_MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    statements: [
      `CREATE TABLE call_content (
        request_id TEXT PRIMARY KEY NOT NULL,
        account TEXT NOT NULL,
        workspace TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        sealed BLOB NOT NULL
      ) STRICT`,
      'CREATE INDEX call_content_age ON call_content (workspace, at_ms)',
    ],
  },
];

/** Taken away in one transaction; what is to be kept meanwhile waits for no more. */
const SWEEP_CALLS = 200;
/** 16 MiB of pages given back to the disk at a time. */
const VACUUM_PAGES = 4_000;

interface ContentRow {
  readonly workspace: string;
  readonly sealed: Uint8Array;
}

export interface ContentDatabase {
  /** All or none; durable against a crash of the process, and of the machine but for the last moments. */
  keep(contents: readonly CallContent[]): void;
  find(account: string, requestId: string): string | null;
  /** Throws where it cannot be opened. */
  read(account: string, requestId: string): CallContent | null;
  sweep(cutoff: ContentCutoff, bytesMax: number): number;
  close(): void;
}

/** Opens the file, made where it is missing. Throws what SQLite throws. */
export function openContentDatabase(path: string, key: Uint8Array): ContentDatabase {
  const database = openWriteConnection(path);
  try {
    const tables = database.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get();
    if (tables?.count === 0) {
      // Takes effect at once only where there is nothing yet but a header. https://sqlite.org/pragma.html#pragma_auto_vacuum (read 2026-11-22).
      database.run('PRAGMA auto_vacuum = INCREMENTAL');
      database.run('VACUUM');
    }
    migrate(database, Date.now(), CONTENT_MIGRATIONS);
    database.run('PRAGMA synchronous = NORMAL');
    database.run('PRAGMA secure_delete = ON');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return contentDatabase(database, key);
}

function contentDatabase(database: Database, key: Uint8Array): ContentDatabase {
  const insert = database.prepare(
    'INSERT INTO call_content (request_id, account, workspace, at_ms, sealed) VALUES (?, ?, ?, ?, ?)',
  );
  const select = database.prepare<ContentRow, [string, string]>(
    'SELECT workspace, sealed FROM call_content WHERE request_id = ? AND account = ?',
  );
  const selectWorkspace = database.prepare<{ readonly workspace: string }, [string, string]>(
    'SELECT workspace FROM call_content WHERE request_id = ? AND account = ?',
  );
  const remove = database.prepare(
    'DELETE FROM call_content WHERE rowid IN (SELECT rowid FROM call_content WHERE workspace = ? AND at_ms < ? LIMIT ?)',
  );
  return {
    keep(contents) {
      inTransaction(database, () => {
        for (const content of contents) {
          const { requestId, account, workspace, atMs } = content;
          insert.run(requestId, account, workspace, atMs, sealContent(key, content));
        }
      });
    },
    find: (account, requestId) => selectWorkspace.get(requestId, account)?.workspace ?? null,
    read(account, requestId) {
      const row = select.get(requestId, account);
      return row === null ? null : openContent(key, { account, requestId, workspace: row.workspace }, row.sealed);
    },
    sweep({ workspace, beforeMs }, bytesMax) {
      boundSize(database, bytesMax);
      const { changes } = inTransaction(database, () => remove.run(workspace, beforeMs, SWEEP_CALLS));
      // Each page given back is a row of its answer: a single step would give back one.
      if (changes > 0) database.query(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`).all();
      return changes;
    },
    close() {
      for (const statement of [insert, select, selectWorkspace, remove]) statement.finalize();
      database.close();
    },
  };
}

/** At the bound SQLite answers as on a full disk: nothing more is kept until something is taken away. */
function boundSize(database: Database, bytesMax: number): void {
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 4_096;
  database.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(bytesMax / pageBytes))}`);
}
