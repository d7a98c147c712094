/** Owns what the writer does with its connection: one transaction for a batch of operations, one for the administrative writes behind it. */
import type { Database } from 'bun:sqlite';
import { inSavepoint, inTransaction, openWriteConnection } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import type { Reach } from '../failpoints.ts';
import { type LedgerBook, openLedgerBook } from '../ledger/ledger-book.ts';
import { type Epoch, readLastEpoch, takeEpoch } from '../ledger/ledger-epoch.ts';
import { type Recovered, recoverHolds } from '../ledger/recover-holds.ts';
import { type FoldPace, openUsageFolder } from '../rollup/fold-usage.ts';
import { openUsageMark } from '../rollup/usage-mark.ts';
import { type Drained, drainSpool, spoolPath } from '../spool/drain-spool.ts';
import { nameSqliteFault, StoreFailure } from '../store-failure.ts';
import { CleanRefusal, createOperationKeeper, type OperationKeeper } from './keep-operations.ts';
import type { Operation } from './ledger-operations.ts';
import { parseOperations } from './operation-batch.ts';
import {
  failedReply,
  type OpenRequest,
  type RefusedOperation,
  type WriterFault,
  type WriterReply,
  type WriteStatement,
} from './writer-messages.ts';

export interface WriterDatabase {
  readonly epoch: number;
  /** What calls of the processes before held; nothing where the database was opened anew within an epoch. */
  readonly recovered: Recovered;
  /** What the processes before left in the spool; nothing where the database was opened anew within an epoch. */
  readonly drained: Drained;
  /** Keeps a batch of operations, as `renderOperations` made it; answers once all that it does not name as failed is durable. */
  keepOperations(batch: string): WriterReply;
  /** As `keepOperations`, for administrative writes. */
  keepWrites(writes: readonly (readonly WriteStatement[])[]): WriterReply;
  /** Takes what lies in the spool into the ledger; durable once it answers. @throws the fault that keeps the disk from it. */
  drain(): Drained;
  /** One step of rolling up; answers whether there is more to do now. @throws the fault, and what was gathered is gathered anew. */
  foldUsage(pace?: FoldPace): boolean;
  /** @throws the fault that still keeps the disk from taking writes. */
  probe(): void;
  close(): void;
}

/** Pages that a checkpoint moves at once: 16 MiB of log. Four times SQLite's default, since each checkpoint waits on the disk. */
const CHECKPOINT_PAGES = 4_000;
/** Larger than the pages that a batch of records usually adds. */
const PROBE_BYTES = 65_536;

/**
 * Opens the database, makes or migrates its tables, takes the next epoch, and takes in and resolves what the last one
 * left; or goes on in the epoch that the request names, whose calls are still running.
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
    const spool = spoolPath(path);
    return epoch === null ? startEpoch(database, spool, nowMs, reach) : goOnInEpoch(database, spool, epoch, reach);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
}

function startEpoch(database: Database, spool: string, nowMs: number, reach: Reach): WriterDatabase {
  const { tools, drained, recovered, epoch } = inTransaction(database, () => {
    const epoch = takeEpoch(database, nowMs);
    const tools = openTools(database, epoch, reach);
    tools.book.begin();
    const drained = drainSpool(database, tools, spool, nowMs);
    tools.book.finish();
    const recovered = recoverHolds(database, { ...tools, epoch: epoch.id }, nowMs, reach);
    reach('recovery-before-commit');
    return { tools, drained, recovered, epoch };
  });
  tools.book.keep();
  reach('recovery-committed');
  if (drained.settled > 0) reach('after-spool-drain');
  return writerDatabase(database, spool, tools, { epoch: epoch.id, recovered, drained });
}

function goOnInEpoch(database: Database, spool: string, expected: number, reach: Reach): WriterDatabase {
  const epoch = readLastEpoch(database);
  if (epoch?.id !== expected) {
    throw new StoreFailure(
      'foreign',
      `The database is in epoch ${epoch?.id ?? 0}, this server's is ${expected}: another server has written to it, or it was replaced. Restart the server.`,
    );
  }
  const nothing = { recovered: { posted: 0, voided: 0 }, drained: { settled: 0, problems: [] } };
  return writerDatabase(database, spool, openTools(database, epoch, reach), { epoch: epoch.id, ...nothing });
}

function openTools(database: Database, { id, seal }: Epoch, reach: Reach) {
  const book = openLedgerBook(database, id, seal);
  const mark = openUsageMark(database);
  const keeper = createOperationKeeper(database, book, id, mark, reach);
  return { book, mark, keeper, folder: openUsageFolder(database, mark, reach), reach };
}

function writerDatabase(
  database: Database,
  spool: string,
  tools: ReturnType<typeof openTools>,
  found: Pick<WriterDatabase, 'epoch' | 'recovered' | 'drained'>,
): WriterDatabase {
  return {
    ...found,
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
    drain() {
      const drained = inTransaction(database, () => {
        tools.book.begin();
        const drained = drainSpool(database, tools, spool, Date.now());
        tools.book.finish();
        return drained;
      });
      tools.book.keep();
      tools.reach('after-spool-drain');
      return drained;
    },
    foldUsage: (pace) => tools.folder.fold(Date.now(), pace),
    probe() {
      inTransaction(database, () =>
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))", [PROBE_BYTES]),
      );
      inTransaction(database, () => database.run("DELETE FROM meta WHERE name = 'probe'"));
    },
    close() {
      tools.folder.close();
      tools.keeper.close();
      tools.mark.close();
      tools.book.close();
      database.close();
    },
  };
}

function boundSize(database: Database, databaseBytesMax: number): void {
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 4096;
  database.run(`PRAGMA max_page_count = ${Math.max(1, Math.floor(databaseBytesMax / pageBytes))}`);
}

/** An operation failed half-way: the transaction is undone, to be run again with a savepoint around each operation. */
class HalfDone extends Error {}

interface BatchTools {
  readonly book: LedgerBook;
  readonly keeper: OperationKeeper;
  readonly reach: Reach;
}

/**
 * Keeps all operations of the batch but those it answers with. Savepoints would cost every operation a microsecond for
 * what almost never happens, so the batch is tried without them first.
 *
 * @throws the database's fault where nothing of the batch was kept.
 */
export function keepBatch(
  database: Database,
  tools: BatchTools,
  operations: readonly Operation[],
  nowMs: number,
): RefusedOperation[] {
  try {
    return runBatch(database, tools, operations, nowMs, false);
  } catch (fault) {
    if (!(fault instanceof HalfDone)) throw fault;
    return runBatch(database, tools, operations, nowMs, true);
  }
}

function runBatch(
  database: Database,
  { book, keeper, reach }: BatchTools,
  operations: readonly Operation[],
  nowMs: number,
  careful: boolean,
): RefusedOperation[] {
  const refused: RefusedOperation[] = [];
  reach('before-begin');
  inTransaction(database, () => {
    reach('after-begin');
    book.begin();
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index] as Operation;
      const page = careful ? book.mark() : null;
      try {
        if (page === null) keeper.keep(operation, nowMs);
        else inSavepoint(database, () => keeper.keep(operation, nowMs));
      } catch (fault) {
        const failure = refusalOf(fault);
        if (page !== null) book.restore(page);
        else if (!(fault instanceof CleanRefusal)) throw new HalfDone();
        refused.push({ index, fault: { kind: failure.kind, message: failure.message } });
      }
    }
    reach('before-balances');
    book.finish();
    reach('before-commit');
  });
  book.keep();
  reach('after-commit');
  return refused;
}

/** The fault of one operation alone. @throws the fault where it is the database's, which no operation gets past. */
function refusalOf(fault: unknown): StoreFailure {
  const failure = nameSqliteFault(fault);
  if (failure.kind !== 'conflict' && failure.kind !== 'refused') throw fault;
  return failure;
}

/** A write is the statements that take effect all or none. A fault of the disk undoes all writes. */
export function keepWrites(database: Database, writes: readonly (readonly WriteStatement[])[]): WriterReply {
  try {
    const written = inTransaction(database, () => writes.map((statements) => keepWrite(database, statements)));
    return written.every((fault) => fault === null) ? true : { failed: null, refused: [], writes: written };
  } catch (fault) {
    return failedReply(nameSqliteFault(fault));
  }
}

/** The fault of a write that broke a constraint, or met what it did not expect; it is no other write's. */
function keepWrite(database: Database, statements: readonly WriteStatement[]): WriterFault | null {
  try {
    inSavepoint(database, () => {
      for (const statement of statements) runWrite(database, statement);
    });
    return null;
  } catch (fault) {
    const { kind, message } = nameSqliteFault(fault);
    if (kind !== 'conflict' && kind !== 'refused') throw fault;
    return { kind, message };
  }
}

function runWrite(database: Database, { sql, parameters, changes }: WriteStatement): void {
  const statement = database.prepare(sql);
  try {
    const outcome = statement.run(...parameters);
    if (changes !== null && outcome.changes !== changes) {
      throw new StoreFailure(
        'conflict',
        `What was to be changed is not there (${outcome.changes} rows instead of ${changes}).`,
      );
    }
  } finally {
    statement.finalize();
  }
}
