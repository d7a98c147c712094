/** Owns how Kysely runs its queries on one `bun:sqlite` connection that only reads. What writes is compiled and sent to the writer. */
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
import type { Tables } from './tables.ts';

/** Queries over a connection that the caller opened and closes. */
export function createQueries(database: Database): Kysely<Tables> {
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(database),
    createIntrospector: (queries) => new SqliteIntrospector(queries),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  return new Kysely<Tables>({ dialect });
}

function createDriver(database: Database): Driver {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = database.prepare<R, SQLQueryBindings[]>(query.sql);
      try {
        return { rows: statement.all(...(query.parameters as SQLQueryBindings[])) };
      } finally {
        statement.finalize();
      }
    },
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
