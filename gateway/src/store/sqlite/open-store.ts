/**
 * Assembles the store: the journal with the ledger over it, the writer thread, whose tables follow the journal, a read
 * connection, and threads for long queries. Opens it read-only too, with or without a running server.
 */
import type { Secret } from '../../lib/secret.ts';
import type { FilePort } from '../journal/file-port.ts';
import { openJournal } from '../journal/journal.ts';
import type { Recovered } from '../ledger/end-unended.ts';
import { createLedger } from '../ledger/ledger.ts';
import type { AnswerCacheStore } from '../ports/cache/answer-cache.ts';
import type { ContentStore } from '../ports/content.ts';
import type { OnCommit, Store, StoreHealth, StoreReading } from '../ports/store.ts';
import { type StoreError, Unavailable } from '../ports/store-errors.ts';
import { createAlertStore } from './books/alert-store.ts';
import { createGuardrailStore } from './books/guardrail-store.ts';
import {
  createProviderCallReader,
  createReconciliationReader,
  createReconciliationStore,
} from './books/reconciliation-store.ts';
import { createAnswerCacheStore } from './cache/answer-cache-store.ts';
import { createSavedViewStore } from './calls/saved-view-store.ts';
import { readCaughtUp, startCatchingUp } from './catch-up.ts';
import { createContentStore } from './content/content-store.ts';
import { databasePath, openReadConnection } from './database/connection.ts';
import { fileExists, inFolder } from './database/data-folder.ts';
import { refuseForeignLog } from './database/foreign-log.ts';
import { createReadingThread, type QueryQuestion, type QueryReply } from './database/reading-thread.ts';
import { createQueries, createWorkerQueries } from './database/sqlite-dialect.ts';
import { armedFailpoints } from './failpoints.ts';
import { createTailReader, findHoldAccount, withRecordsOf, withTransfersOf } from './journal-tail.ts';
import { createCallReader } from './ledger/call-reader.ts';
import { createIdempotencyStore } from './ledger/idempotency-store.ts';
import { readBalances, readMovement } from './ledger/money-readers.ts';
import { createStatementReader } from './ledger/statement-reader.ts';
import { requireCurrentSchema } from './migrations/migrate.ts';
import { createAuditTrail } from './policy/audit-trail.ts';
import { createPeopleStore } from './policy/people-store.ts';
import { createPolicyReader, createPolicyStore } from './policy/policy-store.ts';
import { createEnteredReader, createKeyUseStore, createProviderStore } from './policy/provider-store.ts';
import { nameSqliteFault } from './sqlite-fault.ts';
import { createStoredStateStore } from './stored/stored-state-store.ts';
import { createBudgetSpends } from './usage/budget-spends.ts';
import { createUsageReader } from './usage/usage-reader.ts';
import { startWriter } from './writer/writer.ts';
import { journalFolder } from './writer/writer-database.ts';
import type { WriteStatement } from './writer/writer-messages.ts';

interface ContentOptions {
  readonly masterKey: Secret;
  /** As configured now. */
  limits(): ContentLimits;
}

/** Limits on the disk, in bytes: of content, and of cached answers. */
interface ContentLimits {
  readonly contentBytesMax: number;
  readonly cacheBytesMax: number;
  readonly cacheBytesPerWorkspaceMax: number;
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
  /** Maximum database size in bytes; beyond it the database behaves as on a full disk. Default: none. */
  readonly databaseBytesMax?: number;
  /** Called when calls can no longer be recorded (with the reason), and when they can again (null). */
  readonly onWritableChange?: (failure: StoreError | null) => void;
  /** The same for the database. Meanwhile calls go on, but nothing can be administered, and no money be read. */
  readonly onDatabaseChange?: (failure: StoreError | null) => void;
  /** Called with sentences for the operator about problems of the journal. */
  readonly onJournalProblem?: (problem: string) => void;
  readonly onCommit?: OnCommit;
  /** Called once when the database does not take what is in the journal although it accepts writes; it is retried. */
  readonly onIngestFault?: (cause: unknown) => void;
  /** The writer thread's program; tests override it. */
  readonly writerProgram?: URL;
  /** The journal's work on files; tests inject faults. */
  readonly files?: FilePort;
}

/** The store of a data folder, with what its opening found. */
export interface OpenedStore extends Store {
  /** The number of this start of the data folder; each start takes the next. */
  readonly epoch: number;
  /** The calls that the previous process left running and this start ended. */
  readonly recovered: Recovered;
  health(): StoreHealth;
}

/** URL literals, so that `bun build --compile` finds the programs. */
const USAGE_PROGRAM = new URL('./usage/usage-worker.ts', import.meta.url);
const WRITER_PROGRAM = new URL('./writer/writer-worker.ts', import.meta.url);
const QUERY_PROGRAM = new URL('./database/query-worker.ts', import.meta.url);

/**
 * Opens a data folder's store for writing; creates the database or migrates its tables, brings them up to the journal,
 * and ends the calls that the previous process left open.
 *
 * @throws Unavailable where the disk takes no writes, or what it has is damaged, newer than this program, or belongs to
 * another program.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  /** Closes what was opened, in reverse order, if the opening fails. */
  const closers: (() => unknown)[] = [];
  try {
    return await openParts(options, closers);
  } catch (fault) {
    for (const close of closers.reverse()) await close();
    throw nameSqliteFault(fault);
  }
}

async function openParts(options: StoreOptions, closers: (() => unknown)[]): Promise<OpenedStore> {
  const { dataDir, bindMasterKey, onJournalProblem = () => undefined } = options;
  const path = databasePath(dataDir);
  const writer = await startWriter({
    path,
    databaseBytesMax: options.databaseBytesMax ?? null,
    onChange(failure) {
      // A write of unknown outcome may have changed the mode of an account.
      if (failure === null) void readModes();
      options.onDatabaseChange?.(failure);
    },
    program: options.writerProgram ?? WRITER_PROGRAM,
  });
  closers.push(writer.close);
  for (const problem of writer.opened.problems) onJournalProblem(problem);
  if (bindMasterKey != null) await writer.write([bindMasterKey]);
  const reading = openReadConnection(path);
  closers.push(() => reading.close());
  const queries = createQueries(reading);
  const { stream, end, epoch, left } = writer.opened;
  const reach = armedFailpoints();
  const journal = await openJournal({
    folder: journalFolder(path),
    stream,
    end,
    epoch: epoch + 1,
    onChange: (failure) => options.onWritableChange?.(failure),
    onProblem: onJournalProblem,
    ...(reach && { reach }),
    ...(options.onCommit && { onCommit: options.onCommit }),
    ...(options.files && { file: options.files }),
  });
  closers.push(() => journal.close());
  const catchUp = startCatchingUp(journal, writer, (cause) => options.onIngestFault?.(cause));
  closers.push(catchUp.stop);
  const { ledger, recorder, recovered, ...book } = createLedger({
    journal,
    balances: await readBalances(queries),
    left,
    findMovement: (kind, id) => readMovement(queries, kind, id),
    caughtUp: catchUp.caughtUp,
  });
  reach?.('recovery-appended');
  await catchUp.caughtUp();
  reach?.('recovery-ingested');
  const policies = createPolicyStore(queries, writer);
  async function readModes(): Promise<void> {
    for (const { id, mode } of await policies.readAccounts()) book.setAccount(id, mode);
  }
  const content = openContentStore(options);
  const answerCache = openAnswerCache(options);
  const usage = createUsageReader(path, USAGE_PROGRAM);
  const startThread = () => createReadingThread<QueryQuestion, QueryReply>(QUERY_PROGRAM);
  const [thread, spendThread] = [startThread(), startThread()];
  const [workerQueries, seedQueries] = [createWorkerQueries(path, thread), createWorkerQueries(path, spendThread)];
  const audit = createAuditTrail(queries, writer);
  const storedState = createStoredStateStore(queries, writer);
  const keyUses = createKeyUseStore(queries, workerQueries, writer);
  const { prepare, ...spends } = createBudgetSpends({ workerQueries, seedQueries, prepare: spendThread.prepare });
  return {
    recorder,
    ledger,
    policies: {
      ...policies,
      async save(changes, entries) {
        await policies.save(changes, entries);
        for (const change of changes)
          if (change.of === 'account') book.setAccount(change.account.id, change.account.mode);
      },
    },
    audit: { ...audit, ...readCaughtUp({ read: audit.read }, catchUp) },
    people: createPeopleStore(queries, writer),
    providers: createProviderStore(queries, writer),
    idempotency: createIdempotencyStore(queries, writer),
    storedState: { ...storedState, ...readCaughtUp({ find: storedState.find }, catchUp) },
    calls: readCaughtUp(createCallReader(queries), catchUp),
    usage: readCaughtUp(usage, catchUp),
    keyUses: { ...keyUses, ...readCaughtUp({ readNewestCalls: keyUses.readNewestCalls }, catchUp) },
    statements: readCaughtUp(createStatementReader(workerQueries, usage.readCharges), catchUp),
    spends: { ...readCaughtUp(spends, catchUp), prepare },
    content,
    answerCache,
    reconciliations: {
      ...createReconciliationStore(queries, writer),
      ...readCaughtUp(createProviderCallReader(workerQueries), catchUp),
    },
    alerts: createAlertStore(queries, writer),
    guardrails: createGuardrailStore(queries, writer),
    views: createSavedViewStore(queries, writer),
    epoch: journal.epoch,
    recovered: sumOf(writer.opened.recovered, recovered),
    health() {
      const { blocks, ms } = catchUp.lag();
      return { ...journal.state(), durableBlocks: journal.durableSeq, ingestLagMs: ms, ingestLagBlocks: blocks };
    },
    async close() {
      const contentClosed = Promise.all([content.close(), answerCache.close()]);
      thread.close();
      // The last connection to close checkpoints the write-ahead log into the database, and only the writer's can.
      reading.close();
      spendThread.close();
      usage.close();
      book.close();
      await journal.close();
      catchUp.stop();
      // What is not in the tables yet gets there at the next start.
      await writer.ingest(journal.durableSeq).catch(() => undefined);
      await writer.close();
      await contentClosed;
    },
  };
}

function sumOf(one: Recovered, other: Recovered): Recovered {
  return { posted: one.posted + other.posted, voided: one.voided + other.voided };
}

function openContentStore({ dataDir, content }: StoreOptions): ContentStore {
  if (content === undefined) return NO_CONTENT;
  return createContentStore(dataDir, content.masterKey, () => content.limits().contentBytesMax);
}

function openAnswerCache({ dataDir, content }: StoreOptions): AnswerCacheStore {
  if (content === undefined) return NO_CACHE;
  return createAnswerCacheStore(dataDir, content.masterKey, () => {
    const { cacheBytesMax: total, cacheBytesPerWorkspaceMax: perWorkspace } = content.limits();
    return { perWorkspace, total };
  });
}

const NO_CONTENT: ContentStore = {
  save: () => Promise.reject(new Unavailable('closed', 'This store was opened without the bodies of calls.')),
  find: async () => null,
  read: async () => null,
  list: async () => [],
  search: async (_, requestIds) => ({ found: [], searched: requestIds.length }),
  sweep: async () => 0,
  close: async () => undefined,
};

const NO_CACHE: AnswerCacheStore = {
  save: async () => undefined,
  find: async () => null,
  sweep: async () => 0,
  close: async () => undefined,
};

/**
 * Opens a data folder read-only; takes no lock. Calls and balances are exact, also beside a running server.
 *
 * @throws Unavailable where the database is missing, belongs to another program, or has another schema version.
 */
export function openReading(dataDir: string): StoreReading {
  const path = databasePath(dataDir);
  if (!fileExists(path)) {
    throw new Unavailable(
      'incompatible',
      `There is no database in ${dataDir}. Start the server once, or name the right data folder with TOLLGATE_DATA_DIR.`,
    );
  }
  refuseForeignLog(path);
  const database = openReadConnection(path);
  try {
    inFolder(dataDir, () => requireCurrentSchema(database));
  } catch (fault) {
    database.close();
    throw nameSqliteFault(fault);
  }
  const queries = createQueries(database);
  const calls = createCallReader(queries);
  const read = createTailReader(database, path, journalFolder(path));
  return {
    readCalls: (filter) => read(async (tail) => withRecordsOf(tail, await calls.readCalls(filter), filter)),
    ...createProviderCallReader(queries),
    reconciliations: createReconciliationReader(queries),
    ...createPolicyReader(queries),
    readBalances: (account) =>
      read(async (tail) => {
        const stored = await readBalances(queries, account ?? null);
        return withTransfersOf(tail, stored, (call_id) => findHoldAccount(database, call_id));
      }),
    ...createEnteredReader(queries),
    close: () => database.close(),
  };
}
