/** Owns joining the parts of the SQLite store: the writer thread, a connection that reads, and the queries over both. */
import type { Database } from 'bun:sqlite';
import type { IdempotencyStore } from '../idempotency-port.ts';
import type { Ledger } from '../ledger-port.ts';
import type { BindingCaps } from '../limits-port.ts';
import type { PolicyBook } from '../policy-port.ts';
import type { CallReader, CallRecorder } from '../ports.ts';
import { createCallReader } from './call-reader.ts';
import { databasePath, openReadConnection } from './connection.ts';
import { createIdempotencyStore } from './idempotency-store.ts';
import { createLedger } from './ledger.ts';
import { keepAbandonment, keepRecord } from './ledger-operations.ts';
import { createPolicyBook } from './policy-book.ts';
import type { Recovered } from './recover-holds.ts';
import { createSpendThread } from './spend-thread.ts';
import { createQueries } from './sqlite-dialect.ts';
import { nameSqliteFault, type StoreFailure } from './store-failure.ts';
import { createUnkeptEnds } from './unkept-ends.ts';
import { startWriter, type Writer } from './writer.ts';

export interface StoreOptions {
  /** The data folder, made by `prepareDataFolder`. Whoever opens its store for writing holds its lock. */
  readonly dataDir: string;
  /** The database's largest size in bytes, at which the store acts as on a full disk. Default: none. */
  readonly databaseBytesMax?: number;
  /** Told when writing begins to fail (with the reason), and when it works again (null). */
  readonly onWritableChange?: (failure: StoreFailure | null) => void;
  /** The writer thread's program; another one only in tests. */
  readonly writerProgram?: URL;
}

export interface Store {
  readonly recorder: CallRecorder;
  readonly ledger: Ledger;
  readonly policies: PolicyBook;
  readonly idempotency: IdempotencyStore;
  readonly calls: CallReader;
  /**
   * Nano-USD that a subject's calls were charged within a window, less what the operator bore of them. Read by a thread of
   * its own, which takes up to a microsecond for each record of the window.
   */
  readSpend(binding: BindingCaps, namesOfModel: NamesOfModel): Promise<bigint>;
  /** Starts that thread before it is asked: budgets will bind. */
  prepareSpends(): void;
  /** Which start of this data folder it is; taken anew by each. */
  readonly epoch: number;
  /** The calls that the process before left running, which were ended now. */
  readonly recovered: Recovered;
  /** Waits for what is under way, then closes the database. */
  close(): Promise<void>;
}

/** Every public name of a model, by any of them: a record keeps the name that the caller asked for. */
export type NamesOfModel = (model: string) => readonly string[];

/** As literals beside this file, so that `bun build --compile` finds them. */
const WRITER_PROGRAM = new URL('./writer-worker.ts', import.meta.url);
const SPEND_PROGRAM = new URL('./spend-worker.ts', import.meta.url);

/**
 * Opens a data folder's store for writing; makes the database, or brings its tables up to date. A new one has the
 * account `default` and the workspace `default`.
 *
 * @throws StoreFailure where the database cannot be opened, is newer than this program, or is not ours.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const path = databasePath(options.dataDir);
  const ends = createUnkeptEnds((call_id) => writer.keep(keepAbandonment(call_id)));
  const writer = await startWriter({
    path,
    databaseBytesMax: options.databaseBytesMax ?? null,
    onChange(failure) {
      if (failure === null) ends.endAll();
      options.onWritableChange?.(failure);
    },
    program: options.writerProgram ?? WRITER_PROGRAM,
  });
  const reading = await openReadingBeside(writer, path);
  const queries = createQueries(reading);
  const spends = createSpendThread(path, SPEND_PROGRAM);
  return {
    recorder: { append: (record) => writer.keep(keepRecord(record)), writable: writer.writable },
    ledger: createLedger(queries, writer, ends),
    policies: createPolicyBook(queries, writer),
    idempotency: createIdempotencyStore(queries, writer),
    calls: createCallReader(queries),
    readSpend: ({ subject: { kind, id }, windowStartMs, windowEndMs }, namesOfModel) =>
      spends.ask({
        kind,
        names: kind === 'model' ? namesOfModel(id) : [id],
        startMs: windowStartMs,
        endMs: windowEndMs,
      }),
    prepareSpends: () => spends.prepare(),
    ...writer.opened,
    async close() {
      // The last connection to close folds the log into the database, and only the writer's can.
      reading.close();
      spends.close();
      await writer.close();
    },
  };
}

/** Where it fails, the writer's thread must not be left running. */
async function openReadingBeside(writer: Writer, path: string): Promise<Database> {
  try {
    return openReadConnection(path);
  } catch (fault) {
    await writer.close();
    throw nameSqliteFault(fault);
  }
}
