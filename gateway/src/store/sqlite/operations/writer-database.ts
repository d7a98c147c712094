/**
 * Runs the writer's transactions on its connection: one per batch of call operations, one for administrative writes,
 * and those for startup, spool, usage rollup and probe.
 */
import type { Database } from 'bun:sqlite';
import { ConstraintViolation, StoreError, Unavailable } from '../../ports/store-errors.ts';
import { inSavepoint, inTransaction, openWriteConnection } from '../database/connection.ts';
import type { ReachFailpoint } from '../failpoints.ts';
import { EntryRefused, type LedgerBook, openLedgerBook } from '../ledger/ledger-book.ts';
import { type Epoch, type Recovered, readLastEpoch, recoverHolds, takeEpoch } from '../ledger/ledger-epoch.ts';

import { migrate } from '../migrations/migrate.ts';
import { openUsageFolder } from '../rollup/fold-usage.ts';
import { type Drained, drainSpool, spoolPath } from '../spool/drain-spool.ts';
import { type Fault, faultOf, isAboutRequest, nameSqliteFault } from '../sqlite-fault.ts';
import { createOperationKeeper, type OperationKeeper } from './keep-operations.ts';
import { type Operation, parseOperations } from './ledger-operations.ts';

import {
  failedReply,
  type OpenRequest,
  type RefusedOperation,
  type WriterReply,
  type WriteStatement,
} from './writer-messages.ts';

export interface WriterDatabase {
  readonly epoch: number;
  /** Open holds resolved from earlier processes; none where the database was reopened within an epoch. */
  readonly recovered: Recovered;
  /** Spool entries left by earlier processes; none where the database was reopened within an epoch. */
  readonly drained: Drained;
  /** Applies a batch made by `renderOperations`; when it returns, all operations not reported as failed are durable. */
  keepOperations(batch: string): WriterReply;
  /** As `keepOperations`, for administrative writes. */
  keepWrites(writes: readonly (readonly WriteStatement[])[]): WriterReply;
  /** Moves the spool's entries into the ledger; durable when it returns. @throws the disk's fault. */
  drain(): Drained;
  /** Writes the sums of usage that are gathered. */
  rollUp(): void;
  /** @throws the fault where the disk still accepts no writes. */
  probe(): void;
  close(): void;
}

/** Pages per checkpoint: 16 MiB of log. Four times SQLite's default, since each checkpoint waits for the disk. */
const CHECKPOINT_PAGES = 4_000;
/** Larger than what a batch of records usually adds. */
const PROBE_BYTES = 65_536;

/**
 * Opens the database, creates or migrates its tables, takes the next epoch, and drains the spool and resolves the holds
 * left by the last one. Where the request names an epoch, continues in it instead: its calls are still running.
 *
 * @throws Unavailable
 */
export function openWriterDatabase(
  { path, databaseBytesMax, epoch }: Omit<OpenRequest, 'kind'>,
  nowMs: number,
  reach: ReachFailpoint,
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

function startEpoch(database: Database, spool: string, nowMs: number, reach: ReachFailpoint): WriterDatabase {
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

function goOnInEpoch(database: Database, spool: string, expected: number, reach: ReachFailpoint): WriterDatabase {
  const epoch = readLastEpoch(database);
  if (epoch?.id !== expected) {
    throw new Unavailable(
      'incompatible',
      `The database is in epoch ${epoch?.id ?? 0}, this server's is ${expected}: another server has written to it, or it was replaced. Restart the server.`,
    );
  }
  const nothing = { recovered: { posted: 0, voided: 0 }, drained: { settled: 0, problems: [] } };
  return writerDatabase(database, spool, openTools(database, epoch, reach), { epoch: epoch.id, ...nothing });
}

function openTools(database: Database, { id, seal }: Epoch, reach: ReachFailpoint) {
  const book = openLedgerBook(database, id, seal);
  return { book, keeper: createOperationKeeper(database, book, id, reach), folder: openUsageFolder(database), reach };
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
        return failedReply(faultOf(fault, 'unknown'));
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
    rollUp() {
      inTransaction(database, () => {
        tools.folder.begin(Date.now());
        tools.folder.finish(0, Date.now(), 0);
      });
    },
    probe() {
      inTransaction(database, () =>
        database.run("INSERT OR REPLACE INTO meta (name, value) VALUES ('probe', zeroblob(?))", [PROBE_BYTES]),
      );
      inTransaction(database, () => database.run("DELETE FROM meta WHERE name = 'probe'"));
    },
    close() {
      tools.folder.close();
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

/** An operation failed halfway: the transaction is rolled back and repeated with a savepoint around each operation. */
class HalfDone extends Error {}

interface BatchTools {
  readonly book: LedgerBook;
  readonly keeper: OperationKeeper;
  readonly reach: ReachFailpoint;
}

/**
 * Applies all operations of the batch except those that it returns. Tries first without savepoints, which would cost
 * every operation a microsecond for a rare case.
 *
 * @throws the database's fault where nothing of the batch was stored.
 */
function keepBatch(
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
        else if (!(fault instanceof StoreError) || fault instanceof EntryRefused) throw new HalfDone();
        refused.push({ index, fault: faultOf(failure) });
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

/**
 * Returns the fault of a single operation. @throws the fault where it is the database's, which fails every operation.
 */
function refusalOf(fault: unknown): StoreError {
  const failure = nameSqliteFault(fault);
  if (!isAboutRequest(failure)) throw fault;
  return failure;
}

/**
 * Applies writes, each a list of statements that take effect together or not at all. A fault of the disk rolls back all
 * writes.
 */
export function keepWrites(database: Database, writes: readonly (readonly WriteStatement[])[]): WriterReply {
  try {
    const written = inTransaction(database, () => writes.map((statements) => keepWrite(database, statements)));
    return written.every((fault) => fault === null) ? true : { failed: null, refused: [], writes: written };
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
