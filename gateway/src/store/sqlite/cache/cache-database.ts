/**
 * Stores cached answers in their own database, sealed like content, within limits of bytes. Runs on a thread of its own,
 * so that no answer waits for large bodies of content.
 */
import type { Database } from 'bun:sqlite';
import type { CacheCutoff, CachedAnswer, CachedAnswerName, CacheLimits } from '../../ports/cache/answer-cache.ts';
import { openText, sealText } from '../content/seal-text.ts';
import { inTransaction, openWriteConnection } from '../database/connection.ts';
import { migrate, type Schema } from '../migrations/migrate.ts';

/** The schema of this file, numbered separately from the main database's. */
const SCHEMA: Schema = {
  baseline: {
    version: 1,
    statements: [
      `CREATE TABLE cached_answer (
        id INTEGER PRIMARY KEY,
        account TEXT NOT NULL,
        workspace TEXT NOT NULL,
        hash TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        sealed BLOB NOT NULL,
        UNIQUE (hash, account, workspace)
      ) STRICT`,
      'CREATE INDEX cached_answer_age ON cached_answer (workspace, at_ms, bytes)',
      'CREATE INDEX cached_answer_oldest ON cached_answer (at_ms, workspace, bytes)',
    ],
  },
  upgrades: [],
};

/** Answers deleted in one transaction, which limits how long a look-up waits. */
const SWEEP_ANSWERS = 200;
/** A row's bytes beyond its sealed answer: its columns and its places in the indexes. */
const ROW_BYTES = 400;
/** Pages that a step of a sweep returns to the disk. */
const VACUUM_PAGES = 2_000;

interface OldAnswer {
  readonly id: number;
  readonly workspace: string;
  readonly bytes: number;
}

export interface CacheDatabase {
  /** Answers too large for a workspace are left out. */
  keep(answer: CachedAnswer, limits: CacheLimits): void;
  /** Throws where the answer cannot be decrypted. */
  find(name: CachedAnswerName, sinceMs: number): CachedAnswer | null;
  /** One step: deletes a bounded number of answers, and returns how many. 0: nothing is left to delete. */
  sweep(cutoffs: readonly CacheCutoff[]): number;
  close(): void;
}

/** Opens the file and creates it where it is missing. Throws SQLite's errors. */
export function openCacheDatabase(path: string, key: Uint8Array): CacheDatabase {
  const database = openWriteConnection(path);
  try {
    const tables = database.query<{ count: number }, []>('SELECT count(*) AS count FROM sqlite_schema').get();
    if (tables?.count === 0) {
      // Takes effect at once only while the database has nothing but a header.
      database.run('PRAGMA auto_vacuum = INCREMENTAL');
      database.run('VACUUM');
    }
    migrate(database, Date.now(), SCHEMA);
    database.run('PRAGMA synchronous = NORMAL');
    database.run('PRAGMA secure_delete = ON');
  } catch (fault) {
    database.close();
    throw fault;
  }
  return cacheDatabase(database, key);
}

function cacheDatabase(database: Database, key: Uint8Array): CacheDatabase {
  const insert = database.prepare(
    'INSERT INTO cached_answer (account, workspace, hash, at_ms, bytes, sealed) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const select = database.prepare<{ readonly sealed: Uint8Array }, [string, string, string, number]>(
    'SELECT sealed FROM cached_answer WHERE hash = ? AND account = ? AND workspace = ? AND at_ms >= ?',
  );
  const selectNamed = database.prepare<OldAnswer, [string, string, string]>(
    'SELECT id, workspace, bytes FROM cached_answer WHERE hash = ? AND account = ? AND workspace = ?',
  );
  const selectOldest = database.prepare<OldAnswer, [number]>(
    'SELECT id, workspace, bytes FROM cached_answer ORDER BY at_ms LIMIT ?',
  );
  const selectOld = database.prepare<OldAnswer, [string, number, number]>(
    'SELECT id, workspace, bytes FROM cached_answer WHERE workspace = ? AND at_ms < ? ORDER BY at_ms LIMIT ?',
  );
  const remove = database.prepare('DELETE FROM cached_answer WHERE id = ?');
  const statements = [insert, select, selectNamed, selectOldest, selectOld, remove];
  let totals = readTotals(database);

  function removeAll(rows: readonly OldAnswer[]): void {
    for (const { id, workspace, bytes } of rows) {
      remove.run(id);
      totals.add(workspace, -bytes);
    }
  }

  /** Deletes the oldest answers, of one workspace or of all, until `bytes` more fit within `bytesMax`. */
  function makeRoom(workspace: string | null, bytes: number, bytesMax: number): void {
    while (totals.of(workspace) + bytes > bytesMax) {
      const oldest =
        workspace === null
          ? selectOldest.all(SWEEP_ANSWERS)
          : selectOld.all(workspace, Number.MAX_SAFE_INTEGER, SWEEP_ANSWERS);
      if (oldest.length === 0) throw new Error('the bytes of cached answers are miscounted');
      let excess = totals.of(workspace) + bytes - bytesMax;
      const enough = oldest.findIndex((row) => {
        excess -= row.bytes;
        return excess <= 0;
      });
      removeAll(enough === -1 ? oldest : oldest.slice(0, enough + 1));
    }
  }

  /** In one transaction; the totals are counted again after an error. */
  function change<Outcome>(work: () => Outcome): Outcome {
    try {
      return inTransaction(database, work);
    } catch (fault) {
      totals = readTotals(database);
      throw fault;
    }
  }

  return {
    keep(answer, { perWorkspace, total }) {
      const { account, workspace, hash, atMs } = answer;
      const { body, ...head } = answer;
      const sealed = sealText(key, ownerOf(answer), head, [body]);
      const bytes = sealed.length + ROW_BYTES;
      change(() => {
        removeAll(selectNamed.all(hash, account, workspace));
        if (bytes > perWorkspace || bytes > total) return;
        makeRoom(workspace, bytes, perWorkspace);
        makeRoom(null, bytes, total);
        insert.run(account, workspace, hash, atMs, bytes, sealed);
        totals.add(workspace, bytes);
      });
    },
    find(name, sinceMs) {
      const row = select.get(name.hash, name.account, name.workspace, sinceMs);
      if (row === null) return null;
      const { head, bodies } = openText(key, ownerOf(name), row.sealed);
      // A copy with its own memory, so that it can be transferred to another thread.
      return { ...(head as Omit<CachedAnswer, 'body'>), body: Uint8Array.from(bodies) };
    },
    sweep(cutoffs) {
      const known = new Map(cutoffs.map(({ workspace, beforeMs }) => [workspace, beforeMs]));
      const old: OldAnswer[] = [];
      for (const workspace of totals.workspaces()) {
        const beforeMs = known.get(workspace) ?? Number.MAX_SAFE_INTEGER;
        old.push(...selectOld.all(workspace, beforeMs, SWEEP_ANSWERS - old.length));
        if (old.length === SWEEP_ANSWERS) break;
      }
      if (old.length === 0) return 0;
      change(() => removeAll(old));
      // Each returned page is a result row: stepping only once would return one page.
      database.query(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`).all();
      // What was deleted must not stay in the log.
      database.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
      return old.length;
    },
    close() {
      for (const statement of statements) statement.finalize();
      database.close();
    },
  };
}

/** Bytes by workspace, counted once and then kept: to count them at each answer would take longer with each answer. */
interface Totals {
  /** Null: of all workspaces. */
  of(workspace: string | null): number;
  add(workspace: string, bytes: number): void;
  workspaces(): readonly string[];
}

function readTotals(database: Database): Totals {
  const rows = database
    .query<{ readonly workspace: string; readonly bytes: number }, []>(
      'SELECT workspace, sum(bytes) AS bytes FROM cached_answer GROUP BY workspace',
    )
    .all();
  const totals = new Map(rows.map(({ workspace, bytes }) => [workspace, bytes]));
  let all = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    of: (workspace) => (workspace === null ? all : (totals.get(workspace) ?? 0)),
    add(workspace, bytes) {
      all += bytes;
      const total = (totals.get(workspace) ?? 0) + bytes;
      if (total === 0) totals.delete(workspace);
      else totals.set(workspace, total);
    },
    workspaces: () => [...totals.keys()],
  };
}

/** Additional data: an answer that was moved to another account, workspace or request cannot be decrypted. */
function ownerOf({ account, workspace, hash }: CachedAnswerName): Buffer {
  return Buffer.from(JSON.stringify([account, workspace, hash]));
}
