/** Runs the thread for queries that may take long: one read-only connection, one query at a time. */
import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { faultOf } from '../sqlite-fault.ts';
import { openReadConnection } from './connection.ts';
import type { QueryQuestion, QueryReply } from './reading-thread.ts';

declare const self: Worker;

let database: Database | null = null;

function answer({ path, sql, parameters }: QueryQuestion): QueryReply {
  try {
    database ??= openReadConnection(path);
    const statement = database.prepare(sql);
    try {
      return { rows: statement.all(...(parameters as SQLQueryBindings[])) };
    } finally {
      statement.finalize();
    }
  } catch (fault) {
    return { failed: faultOf(fault) };
  }
}

self.onmessage = ({ data: question }: MessageEvent<QueryQuestion>) => self.postMessage(answer(question));
