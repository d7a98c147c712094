/**
 * Stores content in its own database, over one connection, within a limit on the disk. Runs on a thread of its own, so
 * that large bodies block nothing else.
 */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import type { QueryWord } from '../../../lib/query/call-query.ts';
import type { CallContent, ContentCutoff, ContentMatches, ContentRange } from '../../ports/content.ts';
import { Unavailable } from '../../ports/store-errors.ts';
import { inTransaction, openWriteConnection } from '../database/connection.ts';
import { refuseForeignLog } from '../database/foreign-log.ts';
import { migrate, type Schema } from '../migrations/migrate.ts';
import { openContent, sealContent } from './content-seal.ts';
import { textOf } from './content-text.ts';

const BY_ACCOUNT = 'CREATE INDEX call_content_account ON call_content (account, request_id, workspace)';

/** The schema of this file, numbered separately from the main database's. */
export const CONTENT_SCHEMA: Schema = {
  baseline: {
    version: 2,
    statements: [
      `CREATE TABLE call_content (
        request_id TEXT PRIMARY KEY NOT NULL,
        account TEXT NOT NULL,
        workspace TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        sealed BLOB NOT NULL
      ) STRICT`,
      'CREATE INDEX call_content_age ON call_content (workspace, at_ms)',
      BY_ACCOUNT,
    ],
  },
  upgrades: [{ version: 2, statements: [BY_ACCOUNT] }],
};

/** Calls deleted in one transaction, which limits how long new content waits. */
const SWEEP_CALLS = 200;

/** One look-up in the index for each workspace, where DISTINCT would read all of it. */
const WORKSPACES = `WITH RECURSIVE found (workspace) AS (
    SELECT min(workspace) FROM call_content
    UNION ALL SELECT (SELECT min(workspace) FROM call_content WHERE workspace > found.workspace)
      FROM found WHERE workspace IS NOT NULL
  ) SELECT workspace FROM found WHERE workspace IS NOT NULL`;

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
  list(range: ContentRange, limit: number): readonly string[];
  /** Finds no content that cannot be decrypted. */
  search(account: string, requestIds: readonly string[], words: readonly QueryWord[], timeMs: number): ContentMatches;
  /** Those with content. */
  workspaces(): readonly string[];
  sweep(cutoff: ContentCutoff, bytesMax: number): number;
  close(): void;
}

/** Opens the file and creates it where it is missing. Throws SQLite's errors. */
export function openContentDatabase(path: string, key: Uint8Array): ContentDatabase {
  refuseForeignLog(path);
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
  const selectIds = database.prepare<{ readonly id: string }, [string, string, string, string | null, number]>(
    `SELECT request_id AS id FROM call_content WHERE account = ?1 AND request_id >= ?2 AND request_id < ?3
      AND (?4 IS NULL OR workspace IN (SELECT value FROM json_each(?4))) ORDER BY request_id DESC LIMIT ?5`,
  );
  const selectWorkspaces = database.prepare<{ readonly workspace: string }, []>(WORKSPACES);
  const remove = database.prepare('DELETE FROM call_content WHERE rowid = ?');

  const statements = [insert, select, selectWorkspace, selectOld, selectIds, selectWorkspaces, remove];

  function read(account: string, requestId: string): CallContent | null {
    const row = select.get(requestId, account);
    return row === null ? null : openContent(key, { account, requestId, workspace: row.workspace }, row.sealed);
  }

  /** Null: the content cannot be decrypted, as after its master key was lost. */
  function openIfReadable({ sealed, ...call }: ContentRow & Pick<CallContent, 'account' | 'requestId'>) {
    try {
      return openContent(key, call, sealed);
    } catch {
      return null;
    }
  }

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
    read,
    list({ account, workspaces, from, below }, limit) {
      const only = workspaces === null ? null : JSON.stringify(workspaces);
      return selectIds.all(account, from, below, only, limit).map(({ id }) => id);
    },
    search(account, requestIds, words, timeMs) {
      const endMs = performance.now() + timeMs;
      const found: string[] = [];
      let searched = 0;
      for (const requestId of requestIds) {
        const row = select.get(requestId, account);
        const content = row === null ? null : openIfReadable({ account, requestId, ...row });
        const text = content === null ? null : textOf(content);
        if (text !== null && words.every((word) => text.includes(word.text.toLowerCase()) !== word.isNot)) {
          found.push(requestId);
        }
        searched += 1;
        if (performance.now() >= endMs) break;
      }
      return { found, searched };
    },
    workspaces: () => selectWorkspaces.all().map(({ workspace }) => workspace),
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
      size.shrinkFile(stepBytes);
      return old.length;
    },
    close() {
      for (const statement of statements) statement.finalize();
      database.close();
    },
  };
}

interface ContentSize {
  /**
   * Checkpoints the log into the file where that makes room for rows of these sizes, in bytes. Throws Unavailable
   * `full` where no room is left.
   */
  makeRoom(rows: readonly number[], bytesMax: number): void;
  /** Checkpoints the log into the file, and truncates the log. */
  foldLog(): void;
  /** Returns free pages of the file to the disk; the log takes at most `logBytes` meanwhile. */
  shrinkFile(logBytes: number): void;
}

const MIB = 1024 ** 2;
const LOG_BYTES_MAX = 16 * MIB;
/**
 * Upper bound of one call's content, four bodies of 1 MiB and their metadata; there must always be room to delete it.
 */
const CALL_BYTES = 5 * MIB;
/** Per page in the log. https://sqlite.org/fileformat2.html#the_write_ahead_log (read 2026-11-22). */
const FRAME_BYTES = 24;
/** Upper bound of pages in addition to a row's bytes: those of the table and its indexes. */
const PAGES_PER_ROW = 4;
const PAGES_PER_WRITE = 16;
/** Enough to return what one step of a sweep deleted. */
const VACUUM_ROUNDS = 3;

/** The part of the limit reserved for the log, so that content can be deleted when the file is full. */
function logBytesOf(bytesMax: number): number {
  return Math.floor(Math.min(LOG_BYTES_MAX, Math.max(bytesMax / 8, Math.min(CALL_BYTES, bytesMax / 2))));
}

function openContentSize(database: Database, path: string): ContentSize {
  const pageBytes = readPragma(database, 'page_size');

  function foldLog(): void {
    database.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
  }

  return {
    foldLog,
    makeRoom(rows, bytesMax) {
      const rowPages = rows.map((bytes) => Math.ceil(bytes / (pageBytes - 4)) + PAGES_PER_ROW);
      const pages = rowPages.reduce((sum, count) => sum + count, PAGES_PER_WRITE);
      const [count, free] = [readPragma(database, 'page_count'), readPragma(database, 'freelist_count')];
      const fileBytes = Math.max(count, count - free + pages) * pageBytes;
      const newLogBytes = pages * (pageBytes + FRAME_BYTES);
      const fits = () => fileBytes + Math.max(newLogBytes + logBytes(path), logBytesOf(bytesMax)) <= bytesMax;
      if (fits()) return;
      foldLog();
      if (fits()) return;
      throw new Unavailable(
        'full',
        `The file of content is full: with its log it would take more than limits.content_bytes_max, ${bytesMax} bytes. Content beyond its workspace's retention is deleted automatically.`,
      );
    },
    shrinkFile(logBytesMax) {
      // A moved page takes one frame, and the page that refers to it another.
      const pages = Math.max(1, Math.floor(logBytesMax / (2 * (pageBytes + FRAME_BYTES))));
      for (let round = 0; round < VACUUM_ROUNDS && readPragma(database, 'freelist_count') > 0; round++) {
        // Each returned page is a result row: stepping only once would return one page.
        database.query(`PRAGMA incremental_vacuum(${pages})`).all();
        foldLog();
      }
    },
  };
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function readPragma(database: Database, name: 'page_size' | 'page_count' | 'freelist_count'): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
