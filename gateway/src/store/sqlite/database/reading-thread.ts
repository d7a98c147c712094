/**
 * Runs a database-reading thread for the request thread: started before or by the first question, restarted after it
 * died. Answers one question at a time.
 */
import { type StoreError, Unavailable } from '../../ports/store-errors.ts';
import { type Fault, nameSqliteFault } from '../sqlite-fault.ts';
import { startThread } from './start-thread.ts';

export interface ReadingThread<Question, Reply> {
  /** Starts the thread if it is not running, so that the first question need not wait for that. */
  prepare(): void;
  /** Rejects with Unavailable where the thread died, cannot start or was closed; the next question starts it again. */
  ask(question: Question): Promise<Reply>;
  /** Ends the thread; pending questions are rejected as `closed`. */
  close(): void;
}

interface Asked<Question, Reply> {
  readonly question: Question;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (failure: StoreError) => void;
}

/** Starts no thread yet. `program`: the thread's program, which posts one reply per message. */
export function createReadingThread<Question, Reply>(program: URL): ReadingThread<Question, Reply> {
  let worker: Worker | null = null;
  let underWay: Asked<Question, Reply> | null = null;
  const waiting: Asked<Question, Reply>[] = [];
  let closed = false;

  function next(): void {
    if (underWay !== null) return;
    underWay = waiting.shift() ?? null;
    if (underWay === null) return;
    try {
      worker ??= start();
    } catch (fault) {
      const failure = nameSqliteFault(fault);
      for (const { reject } of [underWay, ...waiting.splice(0)]) reject(failure);
      underWay = null;
      return;
    }
    worker.postMessage(underWay.question);
  }

  function start(): Worker {
    const started = startThread(program);
    const lose = (reason: string) => {
      if (worker !== started) return;
      worker = null;
      started.terminate();
      const lost = new Unavailable('failed', `The thread that reads the database ended (${reason}).`);
      finish((asked) => asked.reject(lost));
    };
    started.onmessage = ({ data: reply }: MessageEvent<Reply>) => finish((asked) => asked.resolve(reply));
    started.onerror = (event) => lose(event.message);
    started.onmessageerror = () => lose('a message could not be read');
    started.addEventListener('close', () => lose('it closed'));
    return started;
  }

  function finish(conclude: (asked: Asked<Question, Reply>) => void): void {
    const done = underWay;
    underWay = null;
    if (done !== null) conclude(done);
    next();
  }

  const closedFailure = () => new Unavailable('closed', 'The store has been closed.');
  return {
    prepare() {
      try {
        if (!closed) worker ??= start();
      } catch {
        // The first question starts it, or says why it cannot.
      }
    },
    ask(question) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closedFailure());
        waiting.push({ question, resolve, reject });
        next();
      });
    },
    close() {
      closed = true;
      worker?.terminate();
      worker = null;
      if (underWay !== null) underWay.reject(closedFailure());
      underWay = null;
      for (const { reject } of waiting.splice(0)) reject(closedFailure());
    },
  };
}

export interface QueryQuestion {
  readonly path: string;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export type QueryReply = { readonly rows: readonly unknown[] } | { readonly failed: Fault };
