/**
 * Stores content in its own database, over one connection. Runs on a thread of its own, so that large bodies block
 * nothing else.
 */
import type { Database } from 'bun:sqlite';
import type { CallContent, ContentCutoff } from '../../ports/content.ts';
import { inTransaction, openWriteConnection } from '../database/connection.ts';
import { migrate, type Schema } from '../migrations/migrate.ts';
import { openContent, sealContent } from './content-seal.ts';
import { logBytesOf, openContentSize } from './content-size.ts';

/** The schema of this file, numbered separately from the main database's. */
export const CONTENT_SCHEMA: Schema = {
  baseline: {
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
  upgrades: [],
};

/** Calls deleted in one transaction, which limits how long new content waits. */
const SWEEP_CALLS = 200;

interface ContentRow {
  readonly workspace: string;
  readonly sealed: Uint8Array;
}

export interface ContentDatabase {
  /**
   * All or none; durable against a crash of the process, and, except for the last moments, of the machine. Throws
   * Unavailable `full` where the file with its log would exceed `bytesMax`.
   */
  keep(contents: readonly CallContent[], bytesMax: number): void;
  find(account: string, requestId: string): string | null;
  /** Throws where the content cannot be decrypted. */
  read(account: string, requestId: string): CallContent | null;
  sweep(cutoff: ContentCutoff, bytesMax: number): number;
  close(): void;
}

/** Opens the file and creates it where it is missing. Throws SQLite's errors. */
export function openContentDatabase(path: string, key: Uint8Array): ContentDatabase {
  const database = openWriteConnection(path);
  try {
    const tables = database.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get();
    if (tables?.count === 0) {
      // Takes effect at once only while the database has nothing but a header.
      // https://sqlite.org/pragma.html#pragma_auto_vacuum (read 2026-11-22).
      database.run('PRAGMA auto_vacuum = INCREMENTAL');
      database.run('VACUUM');
    }
    migrate(database, Date.now(), CONTENT_SCHEMA);
    database.run('PRAGMA synchronous = NORMAL');
    database.run('PRAGMA secure_delete = ON');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return contentDatabase(database, path, key);
}

function contentDatabase(database: Database, path: string, key: Uint8Array): ContentDatabase {
  const size = openContentSize(database, path);
  const insert = database.prepare(
    'INSERT INTO call_content (request_id, account, workspace, at_ms, sealed) VALUES (?, ?, ?, ?, ?)',
  );
  const select = database.prepare<ContentRow, [string, string]>(
    'SELECT workspace, sealed FROM call_content WHERE request_id = ? AND account = ?',
  );
  const selectWorkspace = database.prepare<{ readonly workspace: string }, [string, string]>(
    'SELECT workspace FROM call_content WHERE request_id = ? AND account = ?',
  );
  const selectOld = database.prepare<{ readonly id: number; readonly bytes: number }, [string, number, number]>(
    `SELECT rowid AS id, length(sealed) AS bytes FROM call_content WHERE workspace = ? AND at_ms < ?
      ORDER BY at_ms LIMIT ?`,
  );
  const remove = database.prepare('DELETE FROM call_content WHERE rowid = ?');
  return {
    keep(contents, bytesMax) {
      const rows = contents.map((content) => ({ content, sealed: sealContent(key, content) }));
      size.makeRoom(
        rows.map(({ sealed }) => sealed.length),
        bytesMax,
      );
      inTransaction(database, () => {
        for (const { content, sealed } of rows) {
          const { requestId, account, workspace, atMs } = content;
          insert.run(requestId, account, workspace, atMs, sealed);
        }
      });
    },
    find: (account, requestId) => selectWorkspace.get(requestId, account)?.workspace ?? null,
    read(account, requestId) {
      const row = select.get(requestId, account);
      return row === null ? null : openContent(key, { account, requestId, workspace: row.workspace }, row.sealed);
    },
    sweep({ workspace, beforeMs }, bytesMax) {
      const stepBytes = logBytesOf(bytesMax);
      const old: number[] = [];
      let bytes = 0;
      for (const row of selectOld.all(workspace, beforeMs, SWEEP_CALLS)) {
        bytes += row.bytes;
        if (old.length > 0 && bytes > stepBytes) break;
        old.push(row.id);
      }
      if (old.length === 0) return 0;
      size.foldLog();
      inTransaction(database, () => {
        for (const id of old) remove.run(id);
      });
      size.foldLog();
      size.returnUnused(stepBytes);
      return old.length;
    },
    close() {
      for (const statement of [insert, select, selectWorkspace, selectOld, remove]) statement.finalize();
      database.close();
    },
  };
}
