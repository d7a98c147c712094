/**
 * Runs the writer's transactions on its connection: those of the ingest, one for administrative writes, and the probe.
 * Opens a data folder: migrates its tables, takes over an older folder, and brings the tables up to the journal.
 */
import type { Database } from 'bun:sqlite';
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { waitForDescriptor } from '../../../lib/open-files.ts';
import { openBlockCursor } from '../../journal/block-cursor.ts';
import { DISK, type FilePort } from '../../journal/file-port.ts';
import { recoverJournal } from '../../journal/recover-journal.ts';
import { ConstraintViolation, Unavailable } from '../../ports/store-errors.ts';
import { type ChunkBuilder, openChunkBuilder } from '../chunks/build-chunks.ts';
import { inSavepoint, inTransaction, openWriteConnection } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { type Ingest, type Ingested, openIngest } from '../ingest/ingest.ts';
import { findMark, readMark } from '../ingest/mark.ts';
import { readUnendedCalls } from '../ingest/open-holds.ts';
import { type TakenOver, takeOver } from '../ingest/take-over.ts';
import { migrate } from '../migrations/migrate.ts';
import { type Fault, faultOf, isAboutRequest, nameSqliteFault } from '../sqlite-fault.ts';
import {
  failedReply,
  type OpenedJournal,
  type OpenRequest,
  type WriterReply,
  type WriteStatement,
} from './writer-messages.ts';

export interface WriterDatabase {
  readonly opened: OpenedJournal;
  /** Brings the tables up to a durable block of the journal. @throws as `Ingest.reach` does */
  ingest(throughSeq: number): Ingested;
  /** Applies administrative writes; when it returns, all writes not reported as failed are durable. */
  keepWrites(writes: readonly (readonly WriteStatement[])[]): WriterReply;
  /** Adds charges of before an upgrade, or builds chunks of records, for about 20 ms. False: nothing is left to do. */
  chunk(): boolean;
  /** @throws the fault where the disk still accepts no writes. */
  probe(): void;
  close(): void;
}

/** Pages per checkpoint: 16 MiB of log. Four times SQLite's default, since each checkpoint waits for the disk. */
const CHECKPOINT_PAGES = 4_000;
/** What a long read, such as a backup, keeps the log from losing is given back to the disk beyond this. */
export const LOG_BYTES_KEPT = 32 * 1024 * 1024;
/** Larger than what a batch of records usually adds. */
const PROBE_BYTES = 65_536;

/** While descriptors are short, the server closes connections several times a second. */
const DESCRIPTOR_WAIT_MS = 1_000;
/** A lack of descriptors is no fault of the database, which takes other writes. */
const PATIENT_DISK: FilePort = {
  ...DISK,
  list: (folder) => waitForDescriptor(() => DISK.list(folder), DESCRIPTOR_WAIT_MS),
  open: (path, use) => waitForDescriptor(() => DISK.open(path, use), DESCRIPTOR_WAIT_MS),
};

/** The folder of a database's journal. */
export function journalFolder(path: string): string {
  return join(dirname(path), 'journal');
}

/** @throws Unavailable */
export function openWriterDatabase(
  { path, databaseBytesMax, stream }: Omit<OpenRequest, 'kind'>,
  reach: ReachFailpoint,
): WriterDatabase {
  const database = openWriteConnection(path);
  try {
    migrate(database, Date.now());
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    database.run(`PRAGMA journal_size_limit = ${LOG_BYTES_KEPT}`);
    if (databaseBytesMax !== null) boundSize(database, databaseBytesMax);
    return stream === null ? open(database, path, reach) : reopen(database, path, stream, reach);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
}

function open(database: Database, path: string, reach: ReachFailpoint): WriterDatabase {
  const taken = beginStream(database, path, reach);
  const { stream, ...mark } = readMark(database);
  const recovered = recoverJournal(journalFolder(path), mark, stream);
  const parts = openParts(database, path, reach);
  parts.ingest.reach(recovered.end.seq);
  parts.ingest.release();
  return writerDatabase(database, parts, {
    stream,
    end: recovered.end,
    epoch: recovered.epoch,
    left: readUnendedCalls(database),
    recovered: taken?.recovered ?? { posted: 0, voided: 0 },
    spooled: taken?.spooled ?? 0,
    problems: [...(taken?.problems ?? []), ...recovered.problems, ...parts.ingest.addedAccounts().map(describeAdded)],
  });
}

function describeAdded(account: string): string {
  return `The journal has money or requests of account ${account}, which the database does not have: it was created after the backup that was restored. It was added with its balance. Its settings, workspaces and keys are lost: set and create them again.`;
}

function reopen(database: Database, path: string, expected: Uint8Array, reach: ReachFailpoint): WriterDatabase {
  const { stream, ...end } = readMark(database);
  if (Buffer.compare(stream, expected) !== 0) {
    throw new Unavailable(
      'incompatible',
      'The database belongs to another journal: it was replaced. Restart the server.',
    );
  }
  return writerDatabase(database, openParts(database, path, reach), {
    stream,
    end,
    epoch: end.epoch,
    left: [],
    recovered: { posted: 0, voided: 0 },
    spooled: 0,
    problems: [],
  });
}

/** Takes over a folder from before the journal, or begins the stream of a new one. Null: the folder has its stream. */
function beginStream(database: Database, path: string, reach: ReachFailpoint): TakenOver | null {
  const spool = join(dirname(path), 'spool');
  const taken =
    findMark(database) === null
      ? inTransaction(database, () => {
          const taken = takeOver(database, spool, Date.now());
          const { stream } = recoverJournal(journalFolder(path), { epoch: 0, seq: 0, head: taken.head });
          database.run('INSERT INTO stream (one, id, epoch, seq, head) VALUES (1, ?, 0, 0, ?)', [stream, taken.head]);
          reach('take-over-before-commit');
          return taken;
        })
      : null;
  reach('take-over-committed');
  if (existsSync(spool)) renameSync(spool, `${spool}.old`);
  return taken;
}

interface Parts {
  readonly ingest: Ingest;
  readonly chunks: ChunkBuilder;
}

function openParts(database: Database, path: string, reach: ReachFailpoint): Parts {
  const chunks = openChunkBuilder(database, { reach });
  const openBlocks: Parameters<typeof openIngest>[0]['openBlocks'] = (from) =>
    openBlockCursor(journalFolder(path), from, PATIENT_DISK);
  return { chunks, ingest: openIngest({ database, openBlocks, nowMs: Date.now, reach, onStored: chunks.take }) };
}

function writerDatabase(database: Database, { ingest, chunks }: Parts, opened: OpenedJournal): WriterDatabase {
  return {
    opened,
    ingest: ingest.reach,
    keepWrites(writes) {
      const reply = keepWrites(database, writes);
      ingest.forgetAccounts();
      return reply;
    },
    chunk: () => ingest.addEarlierCharges() || chunks.step(),
    probe() {
      inTransaction(database, () =>
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))", [PROBE_BYTES]),
      );
      inTransaction(database, () => database.run("DELETE FROM meta WHERE name = 'probe'"));
    },
    close() {
      try {
        ingest.rollUp();
      } finally {
        ingest.close();
        chunks.close();
        database.close();
      }
    },
  };
}

function boundSize(database: Database, databaseBytesMax: number): void {
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 4096;
  database.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(databaseBytesMax / pageBytes))}`);
}

/**
 * Applies writes, each a list of statements that take effect together or not at all. A fault of the disk rolls back all
 * writes.
 */
export function keepWrites(database: Database, writes: readonly (readonly WriteStatement[])[]): WriterReply {
  try {
    const written = inTransaction(database, () => writes.map((statements) => keepWrite(database, statements)));
    return written.every((fault) => fault === null) ? true : { failed: null, writes: written };
  } catch (fault) {
    return failedReply(faultOf(fault, 'unknown'));
  }
}

/**
 * Returns the fault of a write that broke a constraint or changed an unexpected number of rows; other writes are
 * unaffected.
 */
function keepWrite(database: Database, statements: readonly WriteStatement[]): Fault | null {
  try {
    inSavepoint(database, () => {
      for (const statement of statements) runWrite(database, statement);
    });
    return null;
  } catch (fault) {
    const failure = faultOf(fault);
    if (!isAboutRequest(failure)) throw fault;
    return failure;
  }
}

function runWrite(database: Database, { sql, parameters, changes }: WriteStatement): void {
  const statement = database.prepare(sql);
  try {
    const outcome = statement.run(...parameters);
    if (changes !== null && outcome.changes !== changes) {
      throw new ConstraintViolation(
        'conflict',
        `The item to change does not exist (${outcome.changes} rows instead of ${changes}).`,
      );
    }
  } finally {
    statement.finalize();
  }
}
