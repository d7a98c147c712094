/**
 * Assembles the SQLite store: the writer thread, the spool, a read connection, and threads for long queries. Opens it
 * read-only too, with or without a running server.
 */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Secret } from '../../lib/secret.ts';
import type { ContentStore } from '../ports/content.ts';
import type { Store, StoreReading } from '../ports/store.ts';
import { type StoreError, Unavailable } from '../ports/store-errors.ts';
import { createContentStore } from './content/content-store.ts';
import { databasePath, openReadConnection } from './database/connection.ts';
import { createReadingThread, type QueryQuestion, type QueryReply } from './database/reading-thread.ts';
import { createQueries, createWorkerQueries } from './database/sqlite-dialect.ts';
import type { ReachFailpoint } from './failpoints.ts';
import { createIdempotencyStore } from './ledger/idempotency-store.ts';
import { createLedger, createUnsavedSettlements, readBalances } from './ledger/ledger.ts';
import type { Recovered } from './ledger/ledger-epoch.ts';
import { createCallReader, createStatementReader } from './ledger/ledger-readers.ts';
import { requireCurrentSchema } from './migrations/migrate.ts';
import { keepAbandonment, keepRecord } from './operations/ledger-operations.ts';
import { startWriter, type Writer } from './operations/writer.ts';
import type { WriteStatement } from './operations/writer-messages.ts';
import { createAuditTrail } from './policy/audit-trail.ts';
import { createPeopleStore } from './policy/people-store.ts';
import { createPolicyReader, createPolicyStore } from './policy/policy-store.ts';
import { createKeyUseStore, createProviderStore, readProviders } from './policy/provider-store.ts';
import type { Drained } from './spool/drain-spool.ts';
import { openSpool, type Spool } from './spool/spool.ts';
import { nameSqliteFault } from './sqlite-fault.ts';
import { createBudgetSpends } from './usage/budget-spends.ts';
import { createUsageReader } from './usage/usage-reader.ts';

interface ContentOptions {
  readonly masterKey: Secret;
  /** The limit on the disk, as configured now. */
  bytesMax(): number;
}

export interface StoreOptions {
  /**
   * The data folder, created by `prepareDataFolder`. A process that opens the store for writing must hold the folder's
   * lock.
   */
  readonly dataDir: string;
  /** Runs once the tables exist, before any other write: stores the check value of a new master key. */
  readonly bindMasterKey?: WriteStatement | null;
  /** Without it the bodies of calls are neither stored nor read. */
  readonly content?: ContentOptions;
  /** Maximum database size in bytes; beyond it the store behaves as on a full disk. Default: none. */
  readonly databaseBytesMax?: number;
  /** Called when writes begin to fail (with the reason), and when they work again (null). */
  readonly onWritableChange?: (failure: StoreError | null) => void;
  /** Called with sentences for the operator about problems of the spool. */
  readonly onSpoolProblem?: (problem: string) => void;
  /** Called with the number of calls whose settlements moved from the spool into the ledger, also at opening. */
  readonly onSpoolDrained?: (calls: number) => void;
  /** The writer thread's program; tests override it. */
  readonly writerProgram?: URL;
  /** Failpoints of the spool; tests only. */
  readonly reach?: ReachFailpoint;
}

/** The store of a data folder, with what its opening found. */
export interface OpenedStore extends Store {
  /** The number of this start of the data folder; each start takes the next. */
  readonly epoch: number;
  /** The calls that the previous process left running and this start ended. */
  readonly recovered: Recovered;
  /** What the previous process left in the spool. */
  readonly drained: Drained;
}

/** URL literals, so that `bun build --compile` finds the programs. */
const USAGE_PROGRAM = new URL('./usage/usage-worker.ts', import.meta.url);
const WRITER_PROGRAM = new URL('./operations/writer-worker.ts', import.meta.url);
const QUERY_PROGRAM = new URL('./database/query-worker.ts', import.meta.url);

/**
 * Opens a data folder's store for writing; creates the database or migrates its tables.
 *
 * @throws Unavailable where the database cannot be opened, is newer than this program, or belongs to another program.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const path = databasePath(options.dataDir);
  let spool: Spool | null = null;
  /** The writer's state change from before the spool was open. */
  let early: StoreError | null = null;
  const writer = await startWriter({
    path,
    databaseBytesMax: options.databaseBytesMax ?? null,
    onChange(failure) {
      if (spool === null) early = failure;
      else spool.onWriterChange(failure);
    },
    program: options.writerProgram ?? WRITER_PROGRAM,
  });
  if (options.bindMasterKey != null) await writeFirst(writer, options.bindMasterKey);
  const ends = createUnsavedSettlements((call_id) => writer.keep(keepAbandonment(call_id)));
  const { reading, spool: opened } = await openBeside(writer, path, options, (failure) => {
    if (failure === null) ends.endAll();
    options.onWritableChange?.(failure);
  });
  spool = opened;
  if (early !== null) spool.onWriterChange(early);
  if (writer.opened.drained.settled > 0) options.onSpoolDrained?.(writer.opened.drained.settled);
  const { dataDir } = options;
  const content =
    options.content === undefined
      ? NO_CONTENT
      : createContentStore(dataDir, options.content.masterKey, options.content.bytesMax);
  const queries = createQueries(reading);
  const usage = createUsageReader(path, USAGE_PROGRAM);
  const startThread = () => createReadingThread<QueryQuestion, QueryReply>(QUERY_PROGRAM);
  const [thread, spendThread] = [startThread(), startThread()];
  const [workerQueries, seedQueries] = [createWorkerQueries(path, thread), createWorkerQueries(path, spendThread)];
  return {
    recorder: { append: (record) => writer.keep(keepRecord(record)), writable: opened.writable },
    ledger: createLedger(queries, writer, opened, ends),
    policies: createPolicyStore(queries, writer),
    audit: createAuditTrail(queries, writer),
    people: createPeopleStore(queries, writer),
    providers: createProviderStore(queries, writer),
    idempotency: createIdempotencyStore(queries, writer),
    calls: createCallReader(queries),
    usage,
    keyUses: createKeyUseStore(queries, workerQueries, writer),
    statements: createStatementReader(workerQueries),
    spends: createBudgetSpends({ workerQueries, seedQueries, prepare: spendThread.prepare, writable: opened.writable }),
    content,
    ...writer.opened,
    async close() {
      const contentClosed = content.close();
      thread.close();
      // The last connection to close checkpoints the write-ahead log into the database, and only the writer's can.
      reading.close();
      spendThread.close();
      usage.close();
      await writer.close();
      await opened.close();
      await contentClosed;
    },
  };
}

const NO_CONTENT: ContentStore = {
  save: () => Promise.reject(new Unavailable('closed', 'This store was opened without the bodies of calls.')),
  find: async () => null,
  read: async () => null,
  sweep: async () => 0,
  close: async () => undefined,
};

async function writeFirst(writer: Writer, statement: WriteStatement): Promise<void> {
  try {
    await writer.write([statement]);
  } catch (fault) {
    await writer.close();
    throw fault;
  }
}

/** Opens the spool and the read connection; on failure it closes the writer thread. */
async function openBeside(
  writer: Writer,
  path: string,
  { onSpoolProblem, onSpoolDrained, reach }: StoreOptions,
  onChange: (failure: StoreError | null) => void,
): Promise<{ readonly reading: Database; readonly spool: Spool }> {
  const listener = {
    onChange,
    onProblem: onSpoolProblem ?? (() => undefined),
    onDrained: onSpoolDrained ?? (() => undefined),
  };
  try {
    const spool = await openSpool(path, writer, writer.opened.drained, listener, reach ?? (() => undefined));
    try {
      return { reading: openReadConnection(path), spool };
    } catch (fault) {
      await spool.close();
      throw fault;
    }
  } catch (fault) {
    await writer.close();
    throw nameSqliteFault(fault);
  }
}

/**
 * Opens a data folder's database read-only; takes no lock.
 *
 * @throws Unavailable where the database is missing, belongs to another program, or has another schema version.
 */
export function openReading(dataDir: string): StoreReading {
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    throw new Unavailable(
      'incompatible',
      `There is no database in ${dataDir}. Start the server once, or name the right data folder with TOLLGATE_DATA_DIR.`,
    );
  }
  const database = openReadConnection(path);
  try {
    requireCurrentSchema(database);
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
  const queries = createQueries(database);
  return {
    ...createCallReader(queries),
    ...createPolicyReader(queries),
    readBalances: (account) => readBalances(queries, account ?? null),
    readProviders: () => readProviders(queries),
    close: () => database.close(),
  };
}
