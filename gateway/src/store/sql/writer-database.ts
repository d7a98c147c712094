/** Owns what the writer does with its connection: one transaction for a batch of records, one for each administrative write. */
import type { Database } from 'bun:sqlite';
import { type CallRecordValues, INSERT_CALL_RECORD } from './call-record-row.ts';
import { openWriteConnection } from './connection.ts';
import { migrate } from './migrate.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';
import type { WriterFault, WriterReply, WriteStatement } from './writer-messages.ts';

export interface WriterDatabase {
  /** Keeps a JSON list of records, each the list of its values; answers once all that it does not name as failed is durable. */
  keepRecords(list: string): WriterReply;
  /** As `keepRecords`, for administrative writes. */
  keepWrites(writes: readonly (readonly WriteStatement[])[]): WriterReply;
  /** @throws the fault that still keeps the disk from taking writes. */
  probe(): void;
  close(): void;
}

/** Pages that a checkpoint moves at once: 16 MiB of log. Four times SQLite's default, since each checkpoint waits on the disk. */
const CHECKPOINT_PAGES = 4_000;
/** Larger than the pages that a batch of records usually adds. */
const PROBE_BYTES = 65_536;

/**
 * Opens the database, makes or migrates its tables, and readies the statements. `databaseBytesMax` bounds the file's
 * size (null: none); at the bound it answers as a full disk does.
 *
 * @throws StoreFailure
 */
export function openWriterDatabase(path: string, databaseBytesMax: number | null, nowMs: number): WriterDatabase {
  const database = openWriteConnection(path);
  try {
    migrate(database, nowMs);
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    if (databaseBytesMax !== null) boundSize(database, databaseBytesMax);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
  const insert = database.prepare(INSERT_CALL_RECORD);

  function insertRows(list: string): { index: number; fault: WriterFault }[] {
    const rows = JSON.parse(list) as CallRecordValues[];
    const refused: { index: number; fault: WriterFault }[] = [];
    inTransaction(database, () => {
      for (let index = 0; index < rows.length; index++) {
        try {
          insert.run(...(rows[index] as CallRecordValues));
        } catch (fault) {
          // A broken constraint undoes its own statement only; the rest of the batch is not to suffer for it.
          const failure = nameSqliteFault(fault);
          if (failure.kind !== 'conflict' && failure.kind !== 'refused') throw fault;
          refused.push({ index, fault: { kind: failure.kind, message: failure.message } });
        }
      }
    });
    return refused;
  }

  function write(statements: readonly WriteStatement[]): WriterFault | null {
    return attempt(() =>
      inTransaction(database, () => {
        for (const statement of statements) runWrite(database, statement);
      }),
    );
  }

  return {
    keepRecords(list) {
      let refused: { index: number; fault: WriterFault }[] = [];
      const failed = attempt(() => (refused = insertRows(list)));
      return failed === null && refused.length === 0 ? true : { failed, refused, writes: [] };
    },
    keepWrites(writes) {
      const written = writes.map(write);
      return written.every((fault) => fault === null) ? true : { failed: null, refused: [], writes: written };
    },
    probe() {
      inTransaction(database, () =>
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))", [PROBE_BYTES]),
      );
      inTransaction(database, () => database.run("DELETE FROM meta WHERE name = 'probe'"));
    },
    close() {
      insert.finalize();
      database.close();
    },
  };
}

function inTransaction(database: Database, work: () => void): void {
  database.run('BEGIN IMMEDIATE');
  try {
    work();
    database.run('COMMIT');
  } catch (fault) {
    // A full disk may have rolled back already: https://sqlite.org/lang_transaction.html (read 2026-11-20).
    if (database.inTransaction) database.run('ROLLBACK');
    throw fault;
  }
}

function runWrite(database: Database, { sql, parameters, changes }: WriteStatement): void {
  const statement = database.prepare(sql);
  try {
    const outcome = statement.run(...parameters);
    if (outcome.changes !== changes) {
      throw new StoreFailure(
        'conflict',
        `What was to be changed is not there (${outcome.changes} rows instead of ${changes}).`,
      );
    }
  } finally {
    statement.finalize();
  }
}

function attempt(work: () => unknown): WriterFault | null {
  try {
    work();
    return null;
  } catch (fault) {
    const { kind, message } = nameSqliteFault(fault);
    return { kind, message };
  }
}

function boundSize(database: Database, databaseBytesMax: number): void {
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 4096;
  database.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(databaseBytesMax / pageBytes))}`);
}
