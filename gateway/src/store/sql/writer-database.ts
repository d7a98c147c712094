/** Owns what the writer does with its connection: one transaction for a batch of operations, one for the administrative writes behind it. */
import type { Database } from 'bun:sqlite';
import { openWriteConnection } from './connection.ts';
import type { Reach } from './failpoints.ts';
import { inTransaction } from './in-transaction.ts';
import { keepBatch } from './keep-batch.ts';
import { createOperationKeeper } from './keep-operations.ts';
import { keepWrites } from './keep-writes.ts';
import { openLedgerBook } from './ledger-book.ts';
import { type Epoch, readLastEpoch, takeEpoch } from './ledger-epoch.ts';
import { migrate } from './migrate.ts';
import { parseOperations } from './operation-batch.ts';
import { type Recovered, recoverHolds } from './recover-holds.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';
import type { OpenRequest, WriterReply, WriteStatement } from './writer-messages.ts';

export interface WriterDatabase {
  readonly epoch: number;
  /** What calls of the processes before held; nothing where the database was opened anew within an epoch. */
  readonly recovered: Recovered;
  /** Keeps a batch of operations, as `renderOperations` made it; answers once all that it does not name as failed is durable. */
  keepOperations(batch: string): WriterReply;
  /** As `keepOperations`, for administrative writes. */
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
 * Opens the database, makes or migrates its tables, takes the next epoch and resolves what the last one left open; or goes
 * on in the epoch that the request names, whose calls are still running.
 *
 * @throws StoreFailure
 */
export function openWriterDatabase(
  { path, databaseBytesMax, epoch }: Omit<OpenRequest, 'kind'>,
  nowMs: number,
  reach: Reach,
): WriterDatabase {
  const database = openWriteConnection(path);
  try {
    migrate(database, nowMs);
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    if (databaseBytesMax !== null) boundSize(database, databaseBytesMax);
    return epoch === null ? startEpoch(database, nowMs, reach) : goOnInEpoch(database, epoch, reach);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
}

function startEpoch(database: Database, nowMs: number, reach: Reach): WriterDatabase {
  const { tools, recovered, epoch } = inTransaction(database, () => {
    const epoch = takeEpoch(database, nowMs);
    const tools = openTools(database, epoch, reach);
    const recovered = recoverHolds(database, { ...tools, epoch: epoch.id }, nowMs, reach);
    reach('recovery-before-commit');
    return { tools, recovered, epoch };
  });
  tools.book.keep();
  reach('recovery-committed');
  return writerDatabase(database, tools, epoch.id, recovered);
}

function goOnInEpoch(database: Database, expected: number, reach: Reach): WriterDatabase {
  const epoch = readLastEpoch(database);
  if (epoch?.id !== expected) {
    throw new StoreFailure(
      'foreign',
      `The database is in epoch ${epoch?.id ?? 0}, this server's is ${expected}: another server has written to it, or it was replaced. Restart the server.`,
    );
  }
  return writerDatabase(database, openTools(database, epoch, reach), epoch.id, { posted: 0, voided: 0 });
}

function openTools(database: Database, { id, seal }: Epoch, reach: Reach) {
  const book = openLedgerBook(database, id, seal);
  return { book, keeper: createOperationKeeper(database, book, id, reach), reach };
}

function writerDatabase(
  database: Database,
  tools: ReturnType<typeof openTools>,
  epoch: number,
  recovered: Recovered,
): WriterDatabase {
  return {
    epoch,
    recovered,
    keepOperations(batch) {
      try {
        const refused = keepBatch(database, tools, parseOperations(batch), Date.now());
        return refused.length === 0 ? true : { failed: null, refused, writes: [] };
      } catch (fault) {
        const { kind, message } = nameSqliteFault(fault);
        return { failed: { kind, message }, refused: [], writes: [] };
      }
    },
    keepWrites(writes) {
      const reply = keepWrites(database, writes);
      tools.book.forgetAccounts();
      return reply;
    },
    probe() {
      inTransaction(database, () =>
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))", [PROBE_BYTES]),
      );
      inTransaction(database, () => database.run("DELETE FROM meta WHERE name = 'probe'"));
    },
    close() {
      tools.keeper.close();
      tools.book.close();
      database.close();
    },
  };
}

function boundSize(database: Database, databaseBytesMax: number): void {
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 4096;
  database.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(databaseBytesMax / pageBytes))}`);
}
