/**
 * Runs Kysely queries on one read-only `bun:sqlite` connection, on this thread or on a thread of its own. Writes are
 * compiled and sent to the writer. Defines the types of rows.
 */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { CallRecord } from '../../ports/records.ts';
import { errorOf, nameSqliteFault } from '../sqlite-fault.ts';
import type { QueryQuestion, QueryReply, ReadingThread } from './reading-thread.ts';

/** Queries over a connection that the caller opens and closes. */
export function createQueries(database: Database): Kysely<Tables> {
  return queriesOver(async (query) => {
    try {
      const statement = database.prepare(query.sql);
      try {
        return statement.all(...(query.parameters as SQLQueryBindings[]));
      } finally {
        statement.finalize();
      }
    } catch (fault) {
      throw nameSqliteFault(fault);
    }
  });
}

/** Queries that may take long: they run on the thread, so that the request thread does not wait for them. */
export function createWorkerQueries(path: string, thread: ReadingThread<QueryQuestion, QueryReply>): Kysely<Tables> {
  return queriesOver(async ({ sql, parameters }) => {
    const reply = await thread.ask({ path, sql, parameters });
    if ('failed' in reply) throw errorOf(reply.failed);
    return reply.rows;
  });
}

type RunQuery = (query: CompiledQuery) => Promise<readonly unknown[]>;

function queriesOver(run: RunQuery): Kysely<Tables> {
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(run),
    createIntrospector: (queries) => new SqliteIntrospector(queries),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  return new Kysely<Tables>({ dialect });
}

function createDriver(run: RunQuery): Driver {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => ({ rows: (await run(query)) as R[] }),
    streamQuery: () => refuse('streams'),
  };
  return {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    beginTransaction: async () => refuse('transactions'),
    commitTransaction: async () => refuse('transactions'),
    rollbackTransaction: async () => refuse('transactions'),
    destroy: async () => undefined,
  };
}

function refuse(what: string): never {
  throw new Error(`the reading connection has no ${what}; each query sees one consistent state by itself`);
}

/** A call record with its counters as columns, flags as 0 or 1, and lists as JSON text. */
export interface CallRecordRow
  extends Omit<CallRecord, 'usage' | 'usage_flags' | 'stream' | 'reason' | 'attempts' | 'cached_from' | 'masked'> {
  readonly cached_from: string | null;
  /** JSON; null: nothing was masked. */
  readonly masked: string | null;
  readonly stream: 0 | 1;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** JSON list. */
  readonly usage_flags: string | null;
  /** JSON of `Usage.extras`; null: the call has none. */
  readonly usage_apart: string | null;
  /** JSON; null: none. */
  readonly reason: string | null;
  /** Computed from the reason: see `reason-columns.ts`. */
  readonly reason_kind: string | null;
  readonly reason_group: string | null;
  readonly attempts: string;
  /** This and the next three: null for a call that held nothing, or from before the journal. Nano-USD: read them as text. */
  readonly held: number | null;
  readonly posted: number | null;
  readonly written_off: number | null;
  readonly ended_ms: number | null;
  readonly block: number | null;
}

export interface Tables {
  call_record: CallRecordRow;
}
